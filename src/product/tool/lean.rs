//! The lean set: the four tools that a task cannot do without, told in a few words, for models with a small window.
//!
//! The tools are the same; only what the model reads of them is shorter.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use crate::base::json::Object;
use crate::kernel::tool::{Output, Subject, Tool, ToolContext, ToolSpec};

/// The word that stands for the set in `tools.enabled` and `--tools`.
pub const WORD: &str = "lean";

/// The set: what is offered, and what is said about it.
const SET: [(&str, &str); 4] = [
    ("read_file", include_str!("../../../assets/tools/lean/read_file.md")),
    ("write_file", include_str!("../../../assets/tools/lean/write_file.md")),
    ("edit_file", include_str!("../../../assets/tools/lean/edit_file.md")),
    ("execute_bash", include_str!("../../../assets/tools/lean/execute_bash.md")),
];

/// A parameter that is of no use without tools which are not in the set.
const UNUSED: &str = "background";

/// Whether a list of tools asks for the set.
pub fn is_in(enabled: &[String]) -> bool {
    enabled.iter().any(|name| name.trim() == WORD)
}

/// The list with the set's tools in place of its word.
pub fn spelt_out(enabled: &[String]) -> Cow<'_, [String]> {
    if !is_in(enabled) {
        return Cow::Borrowed(enabled);
    }
    let others = enabled.iter().filter(|name| name.trim() != WORD).cloned();
    Cow::Owned(SET.iter().map(|(name, _)| (*name).to_owned()).chain(others).collect())
}

/// The tool as the set offers it; one that is not of the set stays as it is.
pub fn short(tool: Arc<dyn Tool>) -> Arc<dyn Tool> {
    let spec = tool.spec();
    let Some((_, description)) = SET.iter().find(|(name, _)| *name == spec.name) else { return tool };
    let mut spec = ToolSpec { description: description.trim_ascii_end(), ..spec.clone() };
    strip(&mut spec.parameters);
    Arc::new(Short { tool, spec })
}

/// Takes out what a schema says in words.
fn strip(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    schema.remove("description");
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.remove(UNUSED);
        properties.values_mut().for_each(strip);
    }
    if let Some(items) = schema.get_mut("items") {
        strip(items);
    }
}

struct Short {
    tool: Arc<dyn Tool>,
    spec: ToolSpec,
}

impl Tool for Short {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn subject(&self, arguments: &Object) -> Result<Subject, String> {
        self.tool.subject(arguments)
    }

    fn run(&self, arguments: &Object, context: &ToolContext<'_>) -> Output {
        self.tool.run(arguments, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_word_stands_for_its_tools() {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(spelt_out(&list(&["*"]))[..], list(&["*"]));
        let spelt = list(&["read_file", "write_file", "edit_file", "execute_bash", "list_*"]);
        assert_eq!(spelt_out(&list(&["list_*", "lean"]))[..], spelt);
    }

    #[test]
    fn schemas_lose_words_and_keep_names() {
        let mut schema = json!({"type": "object", "description": "x", "properties": {
            "description": {"type": "string", "description": "x"}, "background": {},
            "list": {"type": "array", "items": {"properties": {"a": {"description": "x"}}}}}, "required": ["list"]});
        strip(&mut schema);
        let lean = json!({"type": "object", "properties": {
            "description": {"type": "string"}, "list": {"type": "array", "items": {"properties": {"a": {}}}}}, "required": ["list"]});
        assert_eq!(schema, lean);
    }
}
