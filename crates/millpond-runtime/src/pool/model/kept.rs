//! What a thread may see of the word that says of which classes a cache has blocks: who knows of a
//! free finds its class noted, whatever is freed and taken meanwhile.

use loom::sync::atomic::{AtomicBool, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

use crate::pool::class::Class;
use crate::pool::keepers::Kept;

const CLASS: Class = Class::Small(3);

/// A cache with blocks of one class; the lock is its queue's line.
#[derive(Default)]
struct Scene {
    blocks: Mutex<usize>,
    kept: Kept,
    told: AtomicBool,
}

impl Scene {
    fn free(&self) {
        let mut blocks = self.blocks.lock().unwrap();
        *blocks += 1;
        self.kept.note(CLASS);
    }

    /// The same by a queue that notes before it has its line.
    fn free_rashly(&self) {
        self.kept.note(CLASS);
        *self.blocks.lock().unwrap() += 1;
    }

    /// What another queue does that looks for a block; whether it found one.
    fn take(&self) -> bool {
        if !self.kept.may_have(CLASS) {
            return false;
        }
        let mut blocks = self.blocks.lock().unwrap();
        let found = *blocks > 0;
        *blocks -= usize::from(found);
        if *blocks == 0 {
            self.kept.forget(CLASS);
        }
        found
    }
}

/// Two blocks are freed, of which another queue may take one; who is told of both finds one.
fn two_blocks_and_a_thief(free: fn(&Scene)) {
    loom::model(move || {
        let scene = Arc::new(Scene::default());
        let freeing = Arc::clone(&scene);
        let owner = thread::spawn(move || {
            free(&freeing);
            free(&freeing);
            freeing.told.store(true, Ordering::Release);
        });
        let taking = Arc::clone(&scene);
        let thief = thread::spawn(move || taking.take());
        if scene.told.load(Ordering::Acquire) {
            assert!(scene.take(), "a block that was freed isn't found");
        }
        owner.join().unwrap();
        thief.join().unwrap();
    });
}

#[test]
fn who_knows_of_a_free_finds_the_block() {
    two_blocks_and_a_thief(Scene::free);
}

/// The checker is awake.
#[test]
#[should_panic(expected = "a block that was freed isn't found")]
fn a_class_that_is_noted_without_the_line_is_lost() {
    two_blocks_and_a_thief(Scene::free_rashly);
}
