import { invalidInput } from '../../../kernel/invalid-input.ts';
import { isRecord } from '../usage.ts';
import { counted, type FieldRules, free, refused, unpricedFeature } from './field-rule.ts';
import { CLIENT_EVENT, WITHIN_SETTINGS } from './realtime-shapes.ts';
import { requireSpelling, shape } from './spelling.ts';
import { REALTIME_TOOLS, unpricedTool, unpricedToolChoice } from './tool-rules.ts';

const BOUND = 'the bound on tokens out that is held is also sent';
const PROMPT = 'part of the conversation, by its bytes';

const OF_BOTH: FieldRules = {
  instructions: counted(PROMPT),
  tools: counted(PROMPT, (tools, param) => unpricedTool(tools, param, REALTIME_TOOLS)),
  tool_choice: counted('the tools that it names are', unpricedToolChoice),
  max_output_tokens: counted(BOUND),
  prompt: refused('templates that are kept at the provider'),
  ...free('tokens out are held as the dearer of text and sound', 'output_modalities'),
  ...free('no more calls than tokens out', 'parallel_tool_calls'),
  ...free('thought counts as tokens out, within their bound', 'reasoning'),
};

/** What a session may say of itself, by `session.update` and by a client secret. Anything else is refused: OpenAI refuses it too. */
const SESSION: FieldRules = {
  ...OF_BOTH,
  ...free('set when the connection is opened', 'type', 'model'),
  audio: counted('sound in and out is held as tokens', unpricedAudio),
  ...free('shows more of what is billed anyway', 'include', 'tracing'),
  ...free('shortens the conversation', 'truncation'),
};

const RESPONSE: FieldRules = {
  ...OF_BOTH,
  input: counted(PROMPT),
  ...free('says what becomes of the answer', 'conversation', 'metadata'),
  ...free('sound out is held as tokens', 'audio'),
};

/** Of the sound: what is billed beside the responses. */
function unpricedAudio(audio: unknown, param: string) {
  const input = isRecord(audio) ? audio['input'] : undefined;
  if (!isRecord(input)) return undefined;
  const detection = input['turn_detection'];
  if (isRecord(detection) && detection['idle_timeout_ms'] !== undefined && detection['idle_timeout_ms'] !== null)
    return {
      param: `${param}.input.turn_detection.idle_timeout_ms`,
      what: 'responses that the provider begins by itself when nobody speaks',
    };
  return undefined;
}

const RULES = { session: SESSION, response: RESPONSE };
const { input: _, ...WITHIN_SESSION } = WITHIN_SETTINGS;
const SHAPES = { session: shape(Object.keys(SESSION), WITHIN_SESSION), response: shape(Object.keys(RESPONSE), WITHIN_SETTINGS) };

/**
 * An event is what it says, also to a provider whose decoder ignores case. Of `session` and `response` see {@link requireRealtimeFields}.
 * @throws Problem `validation_failed`
 */
export const requireEventSpelling = (event: Readonly<Record<string, unknown>>): void => requireSpelling(event, CLIENT_EVENT);

/**
 * What a session, or one response of it, asks for is in the worst case that is held.
 * @throws Problem `validation_failed`, `unpriced_feature`
 */
export function requireRealtimeFields(fields: Readonly<Record<string, unknown>>, of: keyof typeof RULES): void {
  requireSpelling(fields, SHAPES[of], [of]);
  for (const [name, value] of Object.entries(fields)) {
    const param = `${of}.${name.slice(0, 60)}`;
    const rule = Object.hasOwn(RULES[of], name) ? RULES[of][name] : undefined;
    if (!rule) throw invalidInput([{ loc: ['body', of, name.slice(0, 60)], msg: 'is no field of it', type: 'unknown' }]);
    const unpriced = value === null || value === undefined ? undefined : rule.unpriced?.(value, param);
    if (unpriced) throw unpricedFeature(unpriced);
  }
}
