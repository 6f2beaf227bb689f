import { type Fields, isFields } from '../fields.ts';
import { whatIsWrongWithTurns } from './turns.ts';

const KNOWN = new Set([
  ...['model', 'max_tokens', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'output_config', 'temperature', 'top_p', 'top_k'],
  ...['stop_sequences', 'metadata', 'service_tier', 'cache_control', 'stream', 'container', 'inference_geo', 'context_management'],
]);

const LEAST_BUDGET = 1024;

/** What Anthropic would refuse, in about its words; undefined where it would answer. */
export function whatIsWrongWith(body: Fields): string | undefined {
  const unknown = Object.keys(body).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) return `${unknown}: Extra inputs are not permitted`;
  if (typeof body['model'] !== 'string') return 'model: Field required';
  if (body['max_tokens'] === undefined) return 'max_tokens: Field required';
  if (!Number.isInteger(body['max_tokens']) || Number(body['max_tokens']) < 1)
    return 'max_tokens: Input should be greater than or equal to 1';
  return whatIsWrongWithTurns(body) ?? wrongTools(body) ?? wrongThinking(body) ?? wrongSampling(body) ?? wrongOutput(body);
}

function wrongTools({ tools, tool_choice: choice }: Fields): string | undefined {
  const list = Array.isArray(tools) ? tools.filter(isFields) : [];
  for (const [at, { name, input_schema: schema }] of list.entries()) {
    if (typeof name !== 'string' || !/^[a-zA-Z0-9_-]{1,128}$/.test(name)) return `tools.${at}.custom.name: String should match pattern`;
    if (!isFields(schema) || schema['type'] !== 'object') return `tools.${at}.custom.input_schema.type: Field required`;
  }
  if (choice === undefined) return undefined;
  if (list.length === 0) return 'tool_choice: may only be specified while providing tools';
  const type = isFields(choice) ? choice['type'] : undefined;
  if (!['auto', 'any', 'tool', 'none'].includes(String(type))) return 'tool_choice: Input tag does not match any of the expected tags';
  const names = list.map(({ name }) => name);
  return isFields(choice) && type === 'tool' && !names.includes(choice['name'])
    ? `Tool '${String(choice['name'])}' not found in provided tools`
    : undefined;
}

function wrongThinking({ thinking, tool_choice: choice, max_tokens: bound, temperature }: Fields): string | undefined {
  if (!isFields(thinking) || thinking['type'] === 'disabled') return undefined;
  if (thinking['type'] === 'enabled') {
    const budget = Number(thinking['budget_tokens']);
    if (!(budget >= LEAST_BUDGET)) return 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024';
    if (budget >= Number(bound)) return '`max_tokens` must be greater than `thinking.budget_tokens`.';
  } else if (thinking['type'] !== 'adaptive') {
    return 'thinking: Input tag does not match any of the expected tags';
  }
  const isForced = isFields(choice) && (choice['type'] === 'any' || choice['type'] === 'tool');
  if (isForced) return 'Thinking may not be enabled when tool_choice forces tool use.';
  return temperature === undefined || temperature === 1 ? undefined : '`temperature` may only be set to 1 when thinking is enabled.';
}

function wrongSampling({ temperature, top_p: topP, stop_sequences: stops }: Fields): string | undefined {
  if (typeof temperature === 'number' && (temperature < 0 || temperature > 1)) return 'temperature: range: 0..1';
  if (temperature !== undefined && topP !== undefined)
    return '`temperature` and `top_p` cannot both be specified for this model. Please use only one.';
  const isBlank = Array.isArray(stops) && stops.some((stop) => String(stop).trim() === '');
  return isBlank ? 'stop_sequences: each stop sequence must contain non-whitespace' : undefined;
}

function wrongOutput({ output_config: output }: Fields): string | undefined {
  const format = isFields(output) ? output['format'] : undefined;
  if (!isFields(format)) return undefined;
  if (format['type'] !== 'json_schema' || !isFields(format['schema'])) return 'output_config.format.schema: Field required';
  const said = JSON.stringify(format['schema'], (_, value: unknown) => (isOpenObject(value) ? 'open' : value));
  if (said.includes('"open"'))
    return "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false";
  const unsupported = /"(minimum|maximum|minLength|maxLength|pattern|multipleOf|maxItems)":/.exec(said)?.[1];
  return unsupported === undefined ? undefined : `output_config.format.schema: property '${unsupported}' is not supported`;
}

const isOpenObject = (value: unknown): boolean => isFields(value) && value['type'] === 'object' && value['additionalProperties'] !== false;
