//! `job_output` and `job_stop`: what commands in the background have printed, and their end.
//!
//! Starts nothing, and judges nothing; jobs themselves are known in `product::job`.

pub(super) mod answer;

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments;
use crate::base::json::Object;
use crate::base::text::mask::Mask;
use crate::kernel::tool::{Limits, Output, Risk, Subject, Tool, ToolContext, ToolSpec};
use crate::product::job::{Jobs, Keeping};

pub(super) use answer::{MOVED, moved};

/// The name of the tool that reads.
pub const OUTPUT: &str = "job_output";

/// The name of the tool that ends.
pub const STOP: &str = "job_stop";

/// What the answer of `job_stop` takes at most.
const STOP_LIMITS: Limits = Limits { chars: 1_000, lines: 20 };

/// `job_output`.
#[derive(Debug)]
pub struct JobOutput {
    spec: ToolSpec,
    jobs: Jobs,
    output_dir: PathBuf,
    mask: Mask,
}

/// `job_stop`.
#[derive(Debug)]
pub struct JobStop {
    spec: ToolSpec,
    jobs: Jobs,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    id: String,
}

impl JobOutput {
    /// Reads these; long outputs of jobs are kept in `output_dir`, and nothing shows what `mask` hides.
    pub fn new(jobs: Jobs, limits: Limits, output_dir: PathBuf, mask: Mask) -> Self {
        let description = include_str!("../../../../assets/tools/job_output.md").trim_ascii_end();
        Self { spec: spec(OUTPUT, description, Risk::Safe, limits), jobs, output_dir, mask }
    }
}

impl JobStop {
    /// Ends these.
    pub fn new(jobs: Jobs) -> Self {
        let description = include_str!("../../../../assets/tools/job_stop.md").trim_ascii_end();
        Self { spec: spec(STOP, description, Risk::Write, STOP_LIMITS), jobs }
    }
}

fn spec(name: &'static str, description: &'static str, risk: Risk, limits: Limits) -> ToolSpec {
    let parameters: Value = json!({
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "required": ["id"],
    });
    ToolSpec { name, description, parameters, risk, limits }
}

fn id(arguments: &Object) -> Result<String, String> {
    arguments::parse(arguments).map(|Arguments { id }| id.trim().to_owned())
}

impl Tool for JobOutput {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn subject(&self, arguments: &Object) -> Result<Subject, String> {
        id(arguments).map(|_| Subject::Other)
    }

    fn run(&self, arguments: &Object, context: &ToolContext<'_>) -> Output {
        let keeping = Keeping { limits: self.spec.limits, output_dir: &self.output_dir, mask: &self.mask };
        let looked = id(arguments).and_then(|id| self.jobs.look(&id, &keeping, context.cancel));
        looked.map_or_else(Output::error, answer::looked)
    }
}

impl Tool for JobStop {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn subject(&self, arguments: &Object) -> Result<Subject, String> {
        id(arguments).map(|_| Subject::Other)
    }

    fn run(&self, arguments: &Object, context: &ToolContext<'_>) -> Output {
        let stopped = id(arguments).and_then(|id| self.jobs.stop(&id, context.cancel));
        stopped.map_or_else(Output::error, |(before, left)| answer::stopped(&before, &left))
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
