import type { CallToolResult } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { readJson } from '../../kernel/read-json.ts';
import type { GatewayAnswer } from './gateway-call.ts';
import type { LargeParts } from './large-parts.ts';

/** What the answer of a tool says about its request, by the header that says it on HTTP. */
const SAID_IN_HEADERS = {
  request_id: 'x-request-id',
  receipt_id: 'x-receipt-id',
  cost_usd: 'x-cost-usd',
  model_served: 'x-model-served',
  run_remaining_usd: 'x-agent-budget-remaining-usd',
} as const;

const Pictures = z.looseObject({
  output_format: z.string().optional(),
  data: z.array(z.looseObject({ b64_json: z.string().optional() })),
});
type Content = CallToolResult['content'];

/** The gateway's answer as the answer of a tool. */
export function toolResult(answered: GatewayAnswer, value: unknown, parts: LargeParts): CallToolResult {
  if (answered.status >= 400) return refusal(value, answered);
  const { answer, pictures } = withoutPictures(value, parts);
  const about = aboutRequest(answered);
  const text = parts.jsonText({ answer, ...about });
  return { structuredContent: { answer: parts.value(answer), ...about }, content: [{ type: 'text', text }, ...pictures] };
}

/** A call that was refused: what to do about it in words, and the problem as the API answers with it. */
export function toolError(sentence: string, problem?: unknown): CallToolResult {
  const content: Content = [{ type: 'text', text: sentence }];
  if (problem !== undefined) content.push({ type: 'text', text: JSON.stringify(problem) });
  return { isError: true, content };
}

const Refusal = z.looseObject({ code: z.string(), status: z.int(), detail: z.string() });

function refusal(value: unknown, { status, headers }: GatewayAnswer): CallToolResult {
  const read = Refusal.safeParse(value);
  if (!read.success) return toolError(`The gateway answered with status ${status}.`);
  // OpenAI's form of the same is for OpenAI's clients.
  const { error: _, ...problem } = read.data;
  const wait = headers['retry-after'];
  const again = wait === undefined ? '' : ` Repeat it after ${wait} seconds.`;
  return toolError(`${problem.code} (${status}): ${problem.detail}${again}`, {
    ...problem,
    ...(wait !== undefined && { retry_after_seconds: Number(wait) }),
  });
}

/** What the API answered with: a promise where it is large. */
export const answerIn = ({ headers, body }: GatewayAnswer): unknown =>
  /\bjson\b/.test(headers['content-type'] ?? '') ? readJson(body) : body.toString('utf8');

function aboutRequest({ headers }: GatewayAnswer): Record<string, string> {
  return Object.fromEntries(
    Object.entries(SAID_IN_HEADERS).flatMap(([name, header]) => {
      const value = headers[header];
      return value === undefined ? [] : [[name, header === 'x-model-served' ? decodeURIComponent(value) : value]];
    }),
  );
}

/** Images are returned as images, once: as base64 text they would fill a model's context without use. */
function withoutPictures(value: unknown, parts: LargeParts): { answer: unknown; pictures: Content } {
  const read = Pictures.safeParse(value);
  if (!read.success || !read.data.data.some(({ b64_json }) => b64_json !== undefined)) return { answer: value, pictures: [] };
  const { output_format = 'png', data } = read.data;
  return {
    answer: { ...read.data, data: data.map(({ b64_json: _, ...kept }) => kept) },
    pictures: data.flatMap(({ b64_json }) =>
      b64_json === undefined ? [] : [{ type: 'image', data: parts.value(b64_json), mimeType: `image/${output_format}` }],
    ),
  };
}
