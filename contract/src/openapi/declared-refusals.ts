// Which refusals openapi.json declares for each operation. A module of its own, beside the set-up file that every test file evaluates anew: the
// document is read once in a process.
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { AnthropicError } from '../inference/anthropic-error.ts';
import { GoogleError } from '../inference/google-error.ts';
import { HTTPValidationError, Problem } from '../problem.ts';

const DOCUMENT = new URL('../../openapi.json', import.meta.url);
const SHARED = '#/components/responses/';
/** What is refused before it is known which operation is meant is no operation’s. */
const OF_NO_OPERATION = new Set(['unknown_path', 'method_not_allowed', 'malformed_request', 'expectation_failed']);

const Answer = z.object({
  content: z.record(z.string(), z.object({ examples: z.record(z.string(), z.unknown()).optional() })).optional(),
});
/** Refusals of several operations are declared once, under `components`. */
const Referred = z.object({
  $ref: z
    .string()
    .startsWith(SHARED)
    .transform((ref) => ref.slice(SHARED.length)),
});
const Described = z.object({
  components: z.object({ responses: z.record(z.string(), Answer) }),
  paths: z.record(
    z.string(),
    z.record(z.string(), z.object({ operationId: z.string(), responses: z.record(z.string(), z.union([Referred, Answer])) })),
  ),
});

const Coded = z.object({ code: z.string(), type: z.string().optional() });

interface Declared {
  readonly operationId: string;
  readonly method: string;
  readonly path: RegExp;
  /** Each with its status. */
  readonly refusals: ReadonlySet<string>;
}

let declared: readonly Declared[] | undefined;

/** What is wrong with a refusal, if anything: its code is not declared for the operation, or its body has another form. */
export async function undeclaredIn(method: string, response: Response): Promise<string | undefined> {
  const { pathname } = new URL(response.url);
  const body: unknown = await response.json();
  const refused = Coded.safeParse(body);
  if (!refused.success) return undefined;
  const { code, type } = refused.data;
  if (OF_NO_OPERATION.has(code)) return undefined;
  declared ??= operations();
  const operation = declared.find((one) => one.method === method.toUpperCase() && one.path.test(pathname));
  if (!operation) return undefined;
  // What a provider has said keeps its status.
  const isDeclared = code === 'upstream_rejected' || operation.refusals.has(`${response.status} ${code}`);
  if (!isDeclared) return `${operation.operationId} answered ${response.status} ${code}`;
  const form =
    type === undefined ? GoogleError : type === 'error' ? AnthropicError : response.status === 422 ? HTTPValidationError : Problem;
  const faults = form.safeParse(body).error;
  return faults && `${operation.operationId} answered ${code} in another form: ${faults.message}`;
}

/** Those with fixed paths first: `/v1/keys/budget-summary` is no key’s id. */
function operations(): Declared[] {
  const { paths, components } = Described.parse(JSON.parse(readFileSync(DOCUMENT, 'utf8')));
  const byPath = Object.entries(paths).sort(([a], [b]) => a.split('{').length - b.split('{').length);
  return byPath.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, responses }]) => ({
      operationId,
      method: method.toUpperCase(),
      path: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`),
      refusals: new Set(
        Object.entries(responses).flatMap(([status, answer]) =>
          codesOf('$ref' in answer ? components.responses[answer.$ref] : answer).map((code) => `${status} ${code}`),
        ),
      ),
    })),
  );
}

const codesOf = (answer: z.infer<typeof Answer> | undefined): string[] =>
  Object.values(answer?.content ?? {}).flatMap(({ examples = {} }) => Object.values(examples).flatMap(codeIn));

/** Examples of answers have none. */
const codeIn = (example: unknown): string[] => {
  const referred = ExampleReference.safeParse(example);
  return referred.success ? [referred.data.$ref] : [];
};
const ExampleReference = z.object({
  $ref: z.string().transform((ref) => ref.slice(ref.lastIndexOf('/') + 1).replace(/^[a-z]+-/, '')),
});
