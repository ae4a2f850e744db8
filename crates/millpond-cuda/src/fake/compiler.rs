//! A compiler that is no compiler: a source is the names of entries, and its image is the source.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use millpond_hal::Gate;

use crate::compiler::{CompileError, Compiler, Image};

/// The word that no source may have.
pub(crate) const ERROR: &str = "error";

/// A compiler of names.
#[derive(Default)]
pub(crate) struct FakeCompiler {
    compiled: Mutex<Vec<String>>,
    /// Holds whoever compiles until it is open.
    gate: Mutex<Option<Gate>>,
    /// Whether it ever held somebody.
    has_held: AtomicBool,
}

impl FakeCompiler {
    /// What was compiled so far.
    pub(crate) fn compiled(&self) -> Vec<String> {
        self.compiled
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Holds whoever compiles until the gate is open.
    pub(crate) fn hold(&self, gate: &Gate) {
        let mut held = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        *held = Some(gate.clone());
    }

    /// Whether a gate held somebody who compiles.
    pub(crate) fn has_held(&self) -> bool {
        self.has_held.load(Ordering::SeqCst)
    }
}

impl Compiler for Arc<FakeCompiler> {
    fn identity(&self) -> &'static str {
        "the fake of the tests"
    }

    fn compile(&self, source: &str, architecture: i32) -> Result<Image, CompileError> {
        assert_eq!(architecture, 90, "that of the fake's devices");
        let gate = self
            .gate
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some(gate) = gate {
            self.has_held.store(true, Ordering::SeqCst);
            let (opened, opening) = std::sync::mpsc::channel();
            gate.on_open(move |_| {
                // Nobody may wait any more.
                let _ = opened.send(());
            });
            let _ = opening.recv();
        }
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        compiled.push(source.to_owned());
        if source.contains(ERROR) {
            return Err(CompileError(format!("no such entry in '{source}'")));
        }
        Ok([source.as_bytes(), &[0]].concat())
    }
}
