import { type Fields, isFields } from '../fields.ts';
import { callingConfigIn, declarationsIn } from './answer.ts';
import { whatIsWrongWithContents } from './contents.ts';
import { unknownName } from './unknown-name.ts';

const KNOWN = new Set([
  ...['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig', 'safetySettings', 'cachedContent', 'serviceTier'],
  // Of Vertex, which has its own.
  'labels',
]);
const KNOWN_CONFIG = new Set([
  ...['maxOutputTokens', 'candidateCount', 'temperature', 'topP', 'topK', 'seed', 'presencePenalty', 'frequencyPenalty', 'stopSequences'],
  ...['responseLogprobs', 'logprobs', 'responseMimeType', 'responseSchema', 'responseJsonSchema', 'thinkingConfig', 'mediaResolution'],
  'responseModalities',
]);
const INT32 = 2 ** 31;

/** What Google would refuse, in about its words; undefined where it would answer. */
export function whatIsWrongWith(body: Fields, model: string): string | undefined {
  const config = isFields(body['generationConfig']) ? body['generationConfig'] : {};
  return (
    unknownName(body, KNOWN) ??
    unknownName(config, KNOWN_CONFIG) ??
    whatIsWrongWithContents(body, model) ??
    wrongTools(body) ??
    wrongConfig(config)
  );
}

function wrongTools(body: Fields): string | undefined {
  const declarations = declarationsIn(body);
  for (const { name, parametersJsonSchema: schema } of declarations) {
    if (typeof name !== 'string' || !/^[A-Za-z_][\w.:-]{0,127}$/.test(name)) return `Invalid function name: ${String(name)}`;
    if (schema !== undefined && (!isFields(schema) || schema['type'] !== 'object'))
      return `${name}: parameters schema should be of type OBJECT`;
  }
  const { mode, allowedFunctionNames: allowed } = callingConfigIn(body);
  if (mode === undefined) return undefined;
  if (!['AUTO', 'ANY', 'NONE', 'VALIDATED'].includes(String(mode))) return `Invalid value at 'tool_config.function_calling_config.mode'`;
  if (mode === 'ANY' && declarations.length === 0) return 'Function calling config is set without function_declarations.';
  if (!Array.isArray(allowed)) return undefined;
  if (mode !== 'ANY' && mode !== 'VALIDATED') return 'allowed_function_names should only be set when mode is ANY or VALIDATED.';
  const unknown = allowed.find((name) => !declarations.some((one) => one['name'] === name));
  return unknown === undefined ? undefined : `allowed_function_names contains "${unknown}", which is not declared.`;
}

function wrongConfig(config: Fields): string | undefined {
  const { maxOutputTokens, candidateCount = 1, stopSequences, seed, responseMimeType, responseJsonSchema, thinkingConfig } = config;
  if (maxOutputTokens !== undefined && !(Number(maxOutputTokens) >= 1)) return 'max_output_tokens must be positive.';
  if (!(Number(candidateCount) >= 1 && Number(candidateCount) <= 8)) return 'Only 1 to 8 candidates can be specified.';
  if (Array.isArray(stopSequences) && stopSequences.length > 5) return 'The number of stop sequences exceeds 5.';
  if (typeof seed === 'number' && !(Number.isInteger(seed) && seed >= -INT32 && seed < INT32))
    return "Invalid value at 'generation_config.seed'";
  if (responseJsonSchema !== undefined && responseMimeType !== 'application/json')
    return 'responseJsonSchema only works with response_mime_type application/json.';
  const isTwice = isFields(thinkingConfig) && 'thinkingBudget' in thinkingConfig && 'thinkingLevel' in thinkingConfig;
  return isTwice ? 'You can only set only one of thinking budget and thinking level.' : undefined;
}
