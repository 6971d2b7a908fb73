"""The one tool that Pocket can call: get_time, without parameters."""

import json

NAME = "get_time"
TOOL = {"type": "function",
        "function": {"name": NAME, "description": "The current time of day",
                     "parameters": {"type": "object", "properties": {}}}}

# What the Qwen3.5 template writes before and after the list of tools.
_BEFORE = "# Tools\n\nYou have access to the following functions:\n\n<tools>"
_AFTER = """
</tools>

If you choose to call a function ONLY reply in the following format with NO suffix:

<tool_call>
<function=example_function_name>
<parameter=example_parameter_1>
value_1
</parameter>
<parameter=example_parameter_2>
This is the value for the second parameter
that can span
multiple lines
</parameter>
</function>
</tool_call>

<IMPORTANT>
Reminder:
- Function calls MUST follow the specified format: an inner <function=...></function> block must be nested within <tool_call></tool_call> XML tags
- Required parameters MUST be specified
- You may provide optional reasoning for your function call in natural language BEFORE the function call, but NOT after
- If there is no function call available, answer the question like normal with your current knowledge and do not tell the user about function calls
</IMPORTANT>"""

CALL = f"<tool_call>\n<function={NAME}>\n</function>\n</tool_call>"
NO_CLOCK = "I cannot see a clock."


def header(tools):
    return _BEFORE + "".join("\n" + json.dumps(tool) for tool in tools) + _AFTER


def clock(rng):
    """A time as the tool gives it."""
    return f"{rng.randrange(24):02}:{rng.randrange(60):02}"
