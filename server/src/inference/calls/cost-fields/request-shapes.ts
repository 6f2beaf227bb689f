import { COST_FIELDS } from './cost-fields.ts';
import { GENERATION_CONFIG } from './google-fields.ts';
import { OTHER_NAMES } from './other-names.ts';
import { type Shape, shape } from './spelling.ts';

export const words = (text: string): string[] => text.split(' ');

const CALLED = shape(words('name arguments input description parameters strict format'));
const TOOL_CALL = shape(words('id type index'), { function: CALLED, custom: CALLED });
const IMAGE = shape(words('url detail format'));
const FILE = shape(words('file_id file_data file_url filename detail'));
const AUDIO = shape(words('id data format voice'));
const PART = shape(
  words(
    'type text refusal image_url file_id file_data file_url filename detail cache_control prompt_cache_breakpoint annotations logprobs',
  ),
  {
    image_url: IMAGE,
    video_url: IMAGE,
    file: FILE,
    input_audio: AUDIO,
  },
);
const MESSAGE = shape(words('role name tool_call_id refusal reasoning reasoning_content reasoning_details cache_control'), {
  content: PART,
  tool_calls: TOOL_CALL,
  function_call: CALLED,
  audio: AUDIO,
});
const SCHEMA = shape(words('type name schema strict description'));
const FORMAT = shape(words('type name schema strict description'), { json_schema: SCHEMA });
const ENVIRONMENT = shape(words('type container_id file_ids memory_limit network_policy skills'));
const INNER_TOOL = shape(words('type name description parameters strict format async defer_loading allowed_callers output_schema'));
export const TOOL = shape(
  words('type name description parameters strict format execution container server_url server_label connector_id cache_control'),
  {
    function: CALLED,
    custom: CALLED,
    environment: ENVIRONMENT,
    tools: INNER_TOOL,
  },
);
export const CHOICE = shape(words('type name mode'), {
  function: CALLED,
  custom: CALLED,
  allowed_tools: shape(words('mode tools')),
  tools: shape(words('type name')),
});
const IMAGE_IN = shape(words('image_url file_id'));
const STREAM = shape(words('include_usage include_obfuscation'));
const REASONING = shape(words('effort summary generate_summary mode context max_tokens exclude enabled'));
const CACHE = shape(words('mode ttl prewarm comparison_response_id'));
const ITEM = shape(
  words(
    'type id role status name call_id arguments input summary encrypted_content result phase approve approval_request_id execution action queries results',
  ),
  { content: PART, output: PART, tools: TOOL },
);

const SOURCE = shape(words('type media_type data url file_id content'));
const BLOCK_NAMES = words(
  'type text id name input cache_control citations title context signature thinking data tool_use_id is_error tool_name toolset_name caller extra_content',
);
const BLOCK = shape(BLOCK_NAMES, { source: SOURCE, content: shape(BLOCK_NAMES, { source: SOURCE }) });
const MESSAGE_TOOL = shape(words('type name description input_schema cache_control strict max_uses'));

/** What of Google's requests is no field of its own at the top. */
const GOOGLE = { generationConfig: shape(Object.keys(GENERATION_CONFIG)) };

/** Members of requests whose own members matter, by the path of the operation. */
const WITHIN: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  '/v1/chat/completions': {
    messages: MESSAGE,
    tools: TOOL,
    tool_choice: CHOICE,
    functions: CALLED,
    response_format: FORMAT,
    stream_options: STREAM,
    prediction: shape(words('type'), { content: PART }),
    reasoning: REASONING,
    prompt_cache_options: CACHE,
    audio: AUDIO,
  },
  '/v1/responses': {
    input: ITEM,
    tools: TOOL,
    tool_choice: CHOICE,
    text: shape(words('verbosity'), { format: FORMAT }),
    stream_options: STREAM,
    reasoning: REASONING,
    prompt_cache_options: CACHE,
  },
  '/v1/messages': {
    messages: shape(words('role'), { content: BLOCK }),
    system: BLOCK,
    tools: MESSAGE_TOOL,
    tool_choice: shape(words('type name disable_parallel_tool_use')),
    thinking: shape(words('type budget_tokens display')),
    output_config: shape(words('effort format task_budget')),
  },
  '/v1beta/models/:model/generateContent': GOOGLE,
  '/v1beta/models/:model/streamGenerateContent': GOOGLE,
  '/v1/responses/compact': { input: ITEM },
  '/v1/completions': { stream_options: STREAM },
  '/v1/images/edits': { images: IMAGE_IN, mask: IMAGE_IN },
};

/** The names that a request may have, by the path of its operation. */
export const REQUEST_SHAPES: ReadonlyMap<string, Shape> = new Map(
  Object.entries(COST_FIELDS).map(([path, fields]) => {
    const otherNames = (OTHER_NAMES[path] ?? []).flatMap(({ use, names }) => names.map((name) => [name, use] as const));
    return [path, shape(Object.keys(fields), WITHIN[path], otherNames)];
  }),
);
