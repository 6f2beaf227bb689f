# Prints as JSON what Anthropic's SDK for Python sees of a gateway: python3 anthropic-python.py BASE_URL KEY
import json
import sys

import anthropic

base_url, api_key = sys.argv[1:]
client = anthropic.Anthropic(base_url=base_url, api_key=api_key, max_retries=0)
MODEL = "claude-sonnet-4-6"
HELLO = {"model": MODEL, "max_tokens": 64, "messages": [{"role": "user", "content": "Say hello."}]}
LOOK = {"name": "look", "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}


def raised(call):
    try:
        call()
    except anthropic.APIStatusError as error:
        return [type(error).__name__, error.status_code, error.body["error"]["type"]]


plain = client.messages.create(**HELLO)
with client.messages.stream(**HELLO) as stream:
    streamed = "".join(stream.text_stream)
    final = stream.get_final_message()
called = client.messages.create(**HELLO, tools=[LOOK], tool_choice={"type": "any"})
result = {"type": "tool_result", "tool_use_id": called.content[0].id, "content": "sunny"}
turns = [*HELLO["messages"], {"role": "assistant", "content": called.content}, {"role": "user", "content": [result]}]
batch = client.messages.batches.create(requests=[{"custom_id": "one", "params": HELLO}])
stranger = anthropic.Anthropic(base_url=base_url, api_key="tg_test_nothing", max_retries=0)
print(
    json.dumps(
        {
            "plain": plain.content[0].text,
            "cost": plain.usage.cost,
            "streamed": streamed,
            "stop_reason": final.stop_reason,
            "called": [called.stop_reason, called.content[0].name],
            "went_on": client.messages.create(**{**HELLO, "messages": turns}, tools=[LOOK]).type,
            "counted": client.messages.count_tokens(model=MODEL, messages=HELLO["messages"]).input_tokens > 0,
            "models": MODEL in [model.id for model in client.models.list(limit=5)],
            "batch": [batch.type, client.messages.batches.retrieve(batch.id).id == batch.id],
            "stranger": raised(lambda: stranger.messages.create(**HELLO)),
            "unknown_model": raised(lambda: client.messages.create(**{**HELLO, "model": "nothing"})),
            "out_of_range": raised(lambda: client.messages.create(**{**HELLO, "max_tokens": 0})),
            "no_money": raised(
                lambda: client.messages.create(
                    **HELLO, extra_headers={"x-agent-run-id": "poor-python", "x-agent-max-budget": "0.000000001"}
                )
            ),
        }
    )
)
