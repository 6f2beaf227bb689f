import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import * as z from 'zod';

const Document = z.object({
  answers: z.record(z.string(), z.record(z.string(), z.record(z.string(), z.unknown()))),
  $defs: z.record(z.string(), z.unknown()),
});

const { answers, $defs } = Document.parse(JSON.parse(readFileSync(new URL('answers.json', import.meta.url), 'utf8')));
// Formats are notes there: `unixtime` says of what an integer counts.
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
const validators = new Map<string, ValidateFunction>();

/** The operations that OpenAI's own document describes an answer of. */
export const OPERATIONS: readonly string[] = Object.keys(answers);

/** What in an answer is not as OpenAI's document has it, one line each; of a stream, of each of its events. */
export function violationsIn(operation: string, contentType: string, text: string): string[] {
  const isStream = contentType.startsWith('text/event-stream');
  const validate = validatorOf(operation, isStream ? 'text/event-stream' : 'application/json');
  return (isStream ? eventsOf(text) : [JSON.parse(text) as unknown]).flatMap((value, index) => {
    if (validate(value)) return [];
    return leastOf(validate).map((fault) => `${operation}${isStream ? ` event ${index} ${typeOf(value)}` : ''}: ${fault}`);
  });
}

/** The same of a refusal, whichever operation it is of. */
export function refusalViolationsIn(text: string): string[] {
  const validate = compiled('refusal', { $ref: '#/$defs/ErrorResponse' });
  return validate(JSON.parse(text)) ? [] : leastOf(validate);
}

function validatorOf(operation: string, contentType: string): ValidateFunction {
  const schema = answers[operation]?.[contentType];
  if (!schema) throw new Error(`OpenAI's document describes no ${contentType} of ${operation}`);
  return compiled(`${operation} ${contentType}`, schema);
}

function compiled(name: string, schema: object): ValidateFunction {
  const made = validators.get(name) ?? ajv.compile({ ...schema, $defs });
  validators.set(name, made);
  return made;
}

const eventsOf = (stream: string): unknown[] =>
  [...stream.matchAll(/^data: (.*)$/gm)].flatMap(([, data = '']) => (data === '[DONE]' ? [] : [JSON.parse(data) as unknown]));

const typeOf = (value: unknown): string => z.looseObject({ type: z.string() }).safeParse(value).data?.type ?? '';

/** Of a choice every branch complains: the deepest complaints are of the branch that was meant. */
function leastOf({ errors }: ValidateFunction): string[] {
  const found = errors ?? [];
  const deepest = Math.max(...found.map(({ instancePath }) => instancePath.split('/').length));
  return found
    .filter(({ instancePath, keyword }) => instancePath.split('/').length === deepest && keyword !== 'anyOf')
    .map(({ instancePath, message }) => `${instancePath} ${message}`);
}
