//! Memory of the host that a program has by itself, and tells of.
//!
//! Commands may use it untold, so that there is nothing to be done but to keep the account: what is
//! registered once isn't registered again, and what isn't is not given up.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::argument::{Answer, In, Pointer};
use crate::context::Context;
use crate::entry::entry;
use crate::handle::Handle;
use crate::mutants::{Rule, broken};
use crate::numbers::Code;
use crate::structures::HostRegisterProperties;

/// What is registered: by the context and the first address, where it ends.
type Registered = BTreeMap<(usize, usize), (usize, Weak<Context>)>;

fn registered() -> MutexGuard<'static, Registered> {
    static REGISTERED: Mutex<Registered> = Mutex::new(BTreeMap::new());
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A context by a number, which is no other's while something is registered in it.
fn number(context: &Arc<Context>) -> usize {
    Arc::as_ptr(context).addr()
}

fn register(context: &Arc<Context>, begin: usize, end: usize) -> Answer {
    let mut all = registered();
    // What contexts that are gone have left behind.
    all.retain(|_, (_, owner)| owner.strong_count() > 0);
    let own = number(context);
    let last = all.range((own, 0)..(own, end)).next_back();
    if last.is_some_and(|(_, (other, _))| *other > begin) && !broken(Rule::Registered) {
        return Err(Code::INVALID_OPERATION);
    }
    all.insert((own, begin), (end, Arc::downgrade(context)));
    Ok(())
}

entry! {
    fn urUSMHostAllocRegisterExp(
        context: Handle<Context>,
        memory: Pointer,
        size: usize,
        properties: In<HostRegisterProperties>,
    ) {
        let context = context.get()?;
        let begin = memory.required()?;
        if let Some(properties) = properties.value() {
            properties.flags.check()?;
        }
        let end = begin.checked_add(size).filter(|_| size > 0).ok_or(Code::INVALID_VALUE)?;
        register(&context, begin, end)
    }

    fn urUSMHostAllocUnregisterExp(context: Handle<Context>, memory: Pointer) {
        let context = context.get()?;
        let begin = memory.required()?;
        let removed = registered().remove(&(number(&context), begin));
        removed.map(drop).ok_or(Code::INVALID_VALUE)
    }

    /// Tells that commands will use memory of the host, which they may without.
    fn urUSMImportExp(context: Handle<Context>, memory: Pointer, size: usize) {
        context.get()?;
        memory.required()?;
        if size == 0 {
            return Err(Code::INVALID_SIZE);
        }
        Ok(())
    }

    fn urUSMReleaseExp(context: Handle<Context>, memory: Pointer) {
        context.get()?;
        memory.required().map(drop)
    }
}
