//! `agent tools`: what the model is offered here.

use std::io::Write;

use serde_json::{Value, json};

use super::{DONE, Form, written};
use crate::kernel::toolbox::Toolbox;
use crate::product::error::Error;

/// Prints the tools on offer.
///
/// # Errors
///
/// When it cannot be printed.
pub fn run(tools: &Toolbox, form: Form, out: &mut dyn Write) -> Result<u8, Error> {
    let specs = tools.names().filter_map(|name| tools.get(name)).map(|tool| tool.spec());
    let text = match form {
        Form::Json => {
            let listed = specs.map(|spec| {
                json!({
                    "name": spec.name,
                    "risk": spec.risk.as_str(),
                    "description": spec.description.trim(),
                    "parameters": spec.parameters,
                    "source": "built in",
                })
            });
            format!("{}\n", Value::from(listed.collect::<Vec<_>>()))
        }
        Form::Text => {
            let listed = specs.map(|spec| {
                let first = spec.description.split(". ").next().unwrap_or_default();
                format!("{:<14} {:<10} built in   {first}\n", spec.name, spec.risk.as_str())
            });
            listed.collect()
        }
    };
    written(out.write_all(text.as_bytes()).and_then(|()| out.flush()).map(|()| DONE))
}
