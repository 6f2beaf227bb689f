import { CHOICE, TOOL, words } from './request-shapes.ts';
import { shape } from './spelling.ts';

const FORMAT = shape(words('type rate'));
const DETECTION = shape(
  words('type threshold prefix_padding_ms silence_duration_ms create_response interrupt_response idle_timeout_ms eagerness'),
);
const AUDIO = shape([], {
  input: shape(words('noise_reduction'), {
    format: FORMAT,
    turn_detection: DETECTION,
    transcription: shape(words('model language prompt')),
  }),
  output: shape(words('voice speed'), { format: FORMAT }),
});
const PART = shape(words('type text audio transcript image_url detail'));
const ITEM = shape(words('id type object status role name call_id arguments output'), { content: PART });

/** Members of a session and of a response whose own members matter. */
export const WITHIN_SETTINGS = { audio: AUDIO, tools: TOOL, tool_choice: CHOICE, input: ITEM };

/** An event of a client, but for its session or response. What a provider took for its `type` would begin what nobody has held. */
export const CLIENT_EVENT = shape(
  words('type event_id session response audio previous_item_id item_id content_index audio_end_ms response_id'),
  { item: ITEM },
);
