//! Launches: the recorded steps, submitted as one.
//!
//! Each piece of graph memory has a record of its uses, like any allocation, so that commands are
//! ordered by the bytes that they share. Where its life begins, it comes behind whatever had its
//! bytes before: in this launch, by the records of its predecessors; in earlier launches, of
//! whatever graphs, by the record of the workspace, on which the end of each launch counts as the
//! last use. What was there before is nobody's content then, nor are failures that left it.

use millpond_hal::{Access, Address, Command, Pattern};
use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::event::Event;
use crate::graph::instance::{Graph, Region};
use crate::graph::program::{Place, Program, Step};
use crate::lifecycle;
use crate::memory::{Allocation, Block};
use crate::queue::{Batch, Queue, Use};

impl Graph {
    /// Submits all commands, in order with whatever else uses their memory. The event is complete
    /// when all are, and fails if one of them does.
    ///
    /// # Errors
    /// [`Error::OutputsHeld`] if memory that the launch before left is held and the graph isn't
    /// made with `auto_free`, or if it is shared with the host or a pool lies over it; [`Error::Revoked`] for memory of
    /// another graph that was freed; [`Error::DeviceMismatch`]; a closed queue.
    pub fn launch(&mut self, queue: &Queue) -> Result<Event> {
        lifecycle::check("launching a graph")?;
        let program = &self.program;
        if *queue.device() != program.device {
            return Err(Error::DeviceMismatch {
                operation: format!("launch of graph '{}'", program.name),
                operand: 0,
                found: program.device.name().to_owned(),
                expected: queue.device().name().to_owned(),
            });
        }
        let memory = std::iter::once(&self.workspace).chain(&program.held);
        let uses: SmallVec<[Use<'_>; 8]> = memory
            .map(|allocation| Use {
                allocation,
                access: Access::Update,
            })
            .collect();
        let (regions, workspace, zero) = (&mut self.regions, &self.workspace, self.zero);
        let launched = &mut self.launched;
        // Dropped without the lines.
        let mut revoked = Vec::new();
        queue.core().submit_together(&uses, |batch| {
            free_outputs(program, regions, &mut revoked)?;
            *launched = false;
            let answer = submit(program, regions, zero, batch)
                .and_then(|()| batch.end(&program.name, workspace));
            match answer {
                Ok(_) => *launched = true,
                // No end stands for what was submitted.
                Err(_) => regions.iter().for_each(|region| region.memory.pass_on()),
            }
            answer
        })
    }
}

/// Takes back what the launch before left, if that may be.
fn free_outputs(program: &Program, regions: &mut [Region], revoked: &mut Vec<Block>) -> Result<()> {
    let is_output = |index: &usize| program.lives[*index].end.is_none();
    let is_held = |index: &usize| regions[*index].memory.handles_under_line() > 0;
    let outputs = || (0..regions.len()).filter(is_output);
    let held: SmallVec<[usize; 4]> = outputs().filter(is_held).collect();
    let is_stuck = |index: &usize| !program.auto_free || regions[*index].memory.has_hidden_uses();
    if held.iter().any(is_stuck) {
        return Err(Error::OutputsHeld {
            graph: program.name.to_string(),
            held: held.len(),
            outputs: outputs().count(),
        });
    }
    for index in held {
        let memory = &mut regions[index].memory;
        let successor = memory.succeed();
        revoked.extend(std::mem::replace(memory, successor).let_go());
    }
    Ok(())
}

fn submit(program: &Program, regions: &[Region], zero: bool, batch: &mut Batch<'_>) -> Result<()> {
    let memory_at = |place: Place| match place {
        Place::Memory(index) => &regions[index].memory,
        Place::Held(index) => &program.held[index],
    };
    for step in &program.steps {
        match step {
            Step::Begin(index) => {
                let Region {
                    memory,
                    predecessors,
                } = &regions[*index];
                memory.begin_life(predecessors.iter().map(|&index| &regions[index].memory));
                if zero {
                    fill_with_zeros(memory, batch)?;
                }
            }
            Step::Command { operands, work } => {
                let use_ = |&(place, access): &(Place, Access)| Use {
                    allocation: memory_at(place),
                    access,
                };
                let uses: SmallVec<[Use<'_>; 4]> = operands.iter().map(use_).collect();
                let bases: SmallVec<[Address; 4]> =
                    uses.iter().map(|use_| use_.allocation.address()).collect();
                batch.append(&uses, work.command(bases))?;
            }
        }
    }
    Ok(())
}

fn fill_with_zeros(memory: &Allocation, batch: &mut Batch<'_>) -> Result<()> {
    let Some(pattern) = Pattern::new(&[0]).filter(|_| memory.bytes() > 0) else {
        return Ok(());
    };
    let uses = [Use {
        allocation: memory,
        access: Access::Write,
    }];
    let command = Command::Fill {
        dst: memory.address(),
        pattern,
        bytes: memory.bytes(),
    };
    batch.append(&uses, command)
}
