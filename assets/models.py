"""Writes models.json, the catalogue of models, from the price map inside of the PyPI package litellm.

    python3 assets/models.py WHEEL

`make models` downloads the newest wheel and runs this. Nothing is known here about any model but what the map says: a fact
it does not hold is left out, and the program shows it as unknown. The entries are spelt as in `providers.NAME.models` of a
user's settings, but for `tools`, `until` and `next`, which only the catalogue has.
"""

import datetime
import json
import pathlib
import re
import sys
import zipfile

HERE = pathlib.Path(__file__).parent
MAP = "litellm/model_prices_and_context_window_backup.json"

# Our preset: the map's name of the provider, what its ids begin with there, and the modes whose models can be talked to
# (of these providers OpenAI alone is asked over its Responses wire).
PROVIDERS = {
    "anthropic": ("anthropic", "", ("chat",)),
    "openai": ("openai", "", ("chat", "responses")),
    "gemini": ("gemini", "gemini/", ("chat",)),
    "openrouter": ("openrouter", "openrouter/", ("chat",)),
    "deepseek": ("deepseek", "deepseek/", ("chat",)),
    "glm": ("zai", "zai/", ("chat",)),
    "groq": ("groq", "groq/", ("chat",)),
    "mistral": ("mistral", "mistral/", ("chat",)),
    "xai": ("xai", "xai/", ("chat",)),
    "moonshot": ("moonshot", "moonshot/", ("chat",)),
    "cerebras": ("cerebras", "cerebras/", ("chat",)),
    "together": ("together_ai", "together_ai/", ("chat",)),
}
# Filed under "chat", but they make sound or music, judge texts, search on their own, or are no models of everybody's.
NO_TALK = re.compile(r"^ft:|audio|-tts|lyria|deep-research|guard|realtime|computer-use|/container|-search-")
# Doors over which a conversation with tools can be had; of models that are behind none of them nothing is listed.
DOORS = {"/v1/chat/completions", "/v1/responses", "/v1/messages"}
# An entry that says one of these describes what its model can do: what it does not name, the model cannot.
DESCRIBED = ("supports_function_calling", "supports_tool_choice", "supports_response_schema", "supports_system_messages")
# A snapshot's date, or the newest of a name. It is found by the name without, so it is listed only where it differs.
SNAPSHOT = re.compile(r"(-\d{4}-\d{2}-\d{2}|-20\d{6}|-latest)$")


def defaults() -> set[str]:
    """The models the presets ask: kept also after their end, so that the program can say that it has come."""
    presets = (HERE.parent / "src/product/config/presets.rs").read_text()
    return set(re.findall(r'"([^"\s]+)"', presets))


def entry(facts: dict) -> dict:
    """What the map says of a model, in our words."""
    made: dict = {}
    window, output = facts.get("max_input_tokens"), facts.get("max_output_tokens")
    if window:
        made["contextWindow"] = int(window)
    # As much output as input says that there is no limit of its own; asking for that much would be refused.
    if output and (not window or output < window):
        made["maxTokens"] = int(output)
    described = any(name in facts for name in DESCRIBED)
    able = lambda name: bool(facts[name]) if name in facts else (False if described else None)
    sees = able("supports_vision")
    if sees is not None:
        made["input"] = ["text", "image"] if sees else ["text"]
    for ours, theirs in (("reasoning", "supports_reasoning"), ("tools", "supports_function_calling")):
        if able(theirs) is not None:
            made[ours] = able(theirs)
    cost = price(facts)
    if cost:
        made["cost"] = cost
    if "deprecation_date" in facts:
        made["until"] = facts["deprecation_date"]
    return made


def price(facts: dict) -> dict | None:
    """US dollars for a million tokens, where both input and output have a price; nothing, where one of them is nought
    and the other not. Of prices that rise with the length of a request it is the lowest."""
    fields = {
        "input": "input_cost_per_token",
        "output": "output_cost_per_token",
        "cacheRead": "cache_read_input_token_cost",
        "cacheWrite": "cache_creation_input_token_cost",
    }
    cost = {ours: round(facts[theirs] * 1e6, 6) for ours, theirs in fields.items() if facts.get(theirs) is not None}
    if "input" not in cost or "output" not in cost or (cost["input"] == 0) != (cost["output"] == 0):
        return None
    return {name: int(dollars) if dollars == int(dollars) else dollars for name, dollars in cost.items()}


def models(everything: dict, provider: str, kept: set[str], today: str) -> dict:
    """A provider's models by id, sorted."""
    name, prefix, modes = PROVIDERS[provider]
    found = {}
    for id, facts in everything.items():
        if facts.get("litellm_provider") != name or facts.get("mode") not in modes or not id.startswith(prefix):
            continue
        id = id[len(prefix) :]
        doors = facts.get("supported_endpoints")
        ended = facts.get("deprecation_date", "9") <= today
        if NO_TALK.search(id) or (doors and not DOORS & set(doors)) or (ended and id not in kept):
            continue
        made = entry(facts)
        if not {"contextWindow", "cost"} & made.keys():
            continue
        if "until" in made and facts.get("successor_model"):
            made["next"] = facts["successor_model"].removeprefix(prefix)
        found[id] = made
    same = lambda id: found.get(SNAPSHOT.sub("", id)) == found[id] and SNAPSHOT.search(id) and id not in kept
    return {id: found[id] for id in sorted(found) if not same(id)}


def main(wheel: str) -> None:
    with zipfile.ZipFile(wheel) as archive:
        everything = json.loads(archive.read(MAP))
    version = pathlib.Path(wheel).name.split("-")[1]
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    kept = defaults()
    lines = ["{", f'"source": "PyPI litellm {version}",', f'"date": "{today}",', '"providers": {']
    for at, provider in enumerate(PROVIDERS):
        listed = models(everything, provider, kept, today)
        print(f"{provider}: {len(listed)}", file=sys.stderr)
        rows = [f"  {json.dumps(id)}: {json.dumps(made, separators=(',', ':'))}" for id, made in listed.items()]
        lines += [f'"{provider}": {{', ",\n".join(rows), "}," if at < len(PROVIDERS) - 1 else "}"]
    lines += ["}", "}"]
    (HERE / "models.json").write_text("\n".join(line for line in lines if line) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
