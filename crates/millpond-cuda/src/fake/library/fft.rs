//! cuFFT, the plain way: every point of a spectrum is a sum over all points of the signal.

use std::collections::HashMap;
use std::f64::consts::TAU;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use num_complex::Complex;

use super::super::Fake;
use super::{Area, Field, answer};
use crate::api::{Pointer, StreamHandle};
use crate::library::fft::{Direction, Fft, PlanHandle};
use crate::library::{Elements, Status};

/// Bytes that a plan says it works in.
const WORKSPACE: usize = 4096;

/// A library that transforms.
pub(crate) struct FakeFft {
    fake: Arc<Fake>,
    plans: Mutex<HashMap<i32, Plan>>,
}

#[derive(Clone, Copy, Default)]
struct Plan {
    keeps_from_allocating: bool,
    stream: Option<StreamHandle>,
    memory: Pointer,
    kind: Option<Kind>,
}

/// What a plan is for: input and output.
#[derive(Clone, Copy)]
struct Kind {
    points: usize,
    elements: [Elements; 2],
    steps: [usize; 2],
    distances: [usize; 2],
    count: usize,
}

impl FakeFft {
    pub(crate) fn new(fake: &Arc<Fake>) -> Arc<Self> {
        Arc::new(Self {
            fake: Arc::clone(fake),
            plans: Mutex::default(),
        })
    }

    /// How many plans there are.
    pub(crate) fn plans(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<i32, Plan>> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kind {
    /// Elements of a line of the input and of the output.
    fn lengths(&self) -> [usize; 2] {
        self.elements.map(|elements| {
            let is_half = elements.dtype().is_complex() && self.is_real();
            if is_half {
                self.points / 2 + 1
            } else {
                self.points
            }
        })
    }

    /// Whether the signal is real.
    fn is_real(&self) -> bool {
        self.elements.iter().any(|it| !it.dtype().is_complex())
    }

    /// The line of a number.
    fn line(&self, side: usize, address: Pointer, number: usize) -> Field {
        let first = Field::new(self.elements[side], address, self.steps[side] as i64);
        first.behind(self.distances[side] * number)
    }

    fn transform(&self, input: Pointer, output: Pointer, direction: Direction) {
        let [taken, made] = self.lengths();
        for number in 0..self.count {
            let (from, to) = (self.line(0, input, number), self.line(1, output, number));
            let given: Vec<_> = (0..taken).map(|at| from.get(0, at)).collect();
            let signal: Vec<_> = (0..self.points)
                .map(|at| match given.get(at) {
                    Some(&value) => value,
                    // The other half of a spectrum mirrors the first.
                    None => given[self.points - at].conj(),
                })
                .collect();
            for at in 0..made {
                let terms = signal.iter().enumerate().map(|(index, value)| {
                    let turn = (index * at % self.points) as f64 / self.points as f64;
                    let angle = f64::from(direction as i32) * TAU * turn;
                    value * Complex::from_polar(1.0, angle)
                });
                to.set(0, at, terms.sum());
            }
            if !self.elements[1].dtype().is_complex() {
                // The library may use the input as it likes.
                from.spoil(1, taken);
            }
        }
    }
}

impl Fft for FakeFft {
    unsafe fn property(&self, part: i32, value: *mut i32) -> Status {
        // SAFETY: the caller's promise.
        unsafe { answer(value, [11, 4][part as usize]) };
        Status::SUCCESS
    }

    unsafe fn create(&self, plan: *mut PlanHandle) -> Status {
        self.fake.call_of_library("cufftCreate", |world| {
            let number = world.next() as i32;
            self.lock().insert(number, Plan::default());
            // SAFETY: the caller's promise.
            unsafe { answer(plan, PlanHandle(number)) };
            Status::SUCCESS
        })
    }

    unsafe fn destroy(&self, plan: PlanHandle) -> Status {
        assert!(self.lock().remove(&plan.0).is_some(), "destroyed twice");
        Status::SUCCESS
    }

    unsafe fn keep_from_allocating(&self, plan: PlanHandle, allocate: i32) -> Status {
        let mut plans = self.lock();
        let plan = plans.get_mut(&plan.0).expect("a plan");
        assert!(plan.kind.is_none(), "said before the plan is made");
        plan.keeps_from_allocating = allocate == 0;
        Status::SUCCESS
    }

    unsafe fn make(
        &self,
        plan: PlanHandle,
        axes: i32,
        points: *mut i64,
        embedded_in: *mut i64,
        step_in: i64,
        distance_in: i64,
        elements_in: Elements,
        embedded_out: *mut i64,
        step_out: i64,
        distance_out: i64,
        elements_out: Elements,
        count: i64,
        workspace: *mut usize,
        computed: Elements,
    ) -> Status {
        assert_eq!(axes, 1);
        assert!(
            !embedded_in.is_null() && !embedded_out.is_null(),
            "steps count"
        );
        assert!(computed.dtype().is_complex());
        // SAFETY: the caller's promise.
        let points = unsafe { points.read() };
        let size = |number: i64| {
            let number = usize::try_from(number).expect("a size");
            assert!(number > 0);
            number
        };
        let kind = Kind {
            points: size(points),
            elements: [elements_in, elements_out],
            steps: [step_in, step_out].map(size),
            distances: [distance_in, distance_out].map(size),
            count: size(count),
        };
        self.fake.call_of_library("cufftXtMakePlanMany", |_| {
            let mut plans = self.lock();
            let plan = plans.get_mut(&plan.0).expect("a plan");
            assert!(plan.keeps_from_allocating);
            plan.kind = Some(kind);
            // SAFETY: the caller's promise.
            unsafe { answer(workspace, WORKSPACE) };
            Status::SUCCESS
        })
    }

    unsafe fn set_stream(&self, plan: PlanHandle, stream: StreamHandle) -> Status {
        self.lock().get_mut(&plan.0).expect("a plan").stream = Some(stream);
        Status::SUCCESS
    }

    unsafe fn set_workspace(&self, plan: PlanHandle, memory: Pointer) -> Status {
        self.lock().get_mut(&plan.0).expect("a plan").memory = memory;
        Status::SUCCESS
    }

    unsafe fn transform(
        &self,
        plan: PlanHandle,
        input: Pointer,
        output: Pointer,
        direction: Direction,
    ) -> Status {
        let plan = self.lock()[&plan.0];
        let kind = plan.kind.expect("it was made");
        let lengths = kind.lengths();
        let mut areas = vec![Area {
            address: plan.memory,
            bytes: WORKSPACE,
        }];
        for (side, first) in [(0, input), (1, output)] {
            assert!(
                !kind.is_real()
                    || first
                        .is_multiple_of(2 * kind.elements[side].dtype().real().size() as Pointer),
                "pairs of real numbers are read at once"
            );
            for number in [0, kind.count - 1] {
                areas.push(kind.line(side, first, number).area(1, lengths[side]));
            }
        }
        let stream = plan.stream.expect("a stream");
        self.fake
            .step_of_library("cufftXtExec", stream, &areas, move || {
                kind.transform(input, output, direction);
            })
    }
}
