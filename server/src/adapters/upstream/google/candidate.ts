import { argumentsText, NONE_WRITTEN, type WrittenArguments } from '../../../kernel/tool-arguments.ts';
import type { Steps } from '../../../kernel/turn.ts';
import { countIn, isRecord, type Json, recordsIn, textIn } from '../json-value.ts';
import { withSignature } from './thought-signature.ts';

/** What one candidate says, in a whole answer or in one event of a stream. */
export interface CandidatePiece {
  readonly index: number;
  readonly text: string;
  readonly thoughts: string;
  readonly calls: readonly ToolCall[];
  /** Of the text. */
  readonly signature: string | undefined;
  readonly logprobs: Json | null;
  /** Google's word for why it ended; undefined while it has not. */
  readonly finishReason: string | undefined;
  readonly finishMessage: string | undefined;
}

export interface ToolCall {
  /** Google's id; only newer models send one. */
  readonly id: string | undefined;
  readonly name: string;
  /** JSON. */
  readonly arguments: string;
  readonly signature: string | undefined;
}

const partsIn = ({ content }: Json): Json[] => (isRecord(content) ? recordsIn(content['parts']) : []);

/** What the answer gives to tools. */
export function* givenToTools(response: Json): Generator<unknown> {
  for (const candidate of recordsIn(response['candidates']))
    for (const { functionCall } of partsIn(candidate)) yield isRecord(functionCall) ? functionCall['args'] : undefined;
}

export function* candidatePieces(response: Json, written = NONE_WRITTEN): Steps<CandidatePiece[]> {
  const pieces: CandidatePiece[] = [];
  for (const [at, candidate] of recordsIn(response['candidates']).entries())
    pieces.push({
      index: countIn(candidate['index']) ?? at,
      ...(yield* saidIn(partsIn(candidate), written)),
      logprobs: yield* logprobsOf(candidate['logprobsResult']),
      finishReason: textIn(candidate['finishReason']),
      finishMessage: textIn(candidate['finishMessage']),
    });
  return pieces;
}

type Said = Pick<CandidatePiece, 'text' | 'thoughts' | 'calls' | 'signature'>;

function* saidIn(parts: readonly Json[], written: WrittenArguments): Steps<Said> {
  const texts: string[] = [];
  const thoughts: string[] = [];
  const calls: ToolCall[] = [];
  let signature: string | undefined;
  for (const part of parts) {
    const { functionCall, thought } = part;
    if (isRecord(functionCall)) calls.push(callOf(functionCall, part, written));
    if (thought === true) thoughts.push(textOfPart(part));
    else if (functionCall === undefined) {
      texts.push(textOfPart(part));
      signature = signatureOfPart(part) ?? signature;
    }
    yield;
  }
  return { text: texts.join(''), thoughts: thoughts.join(''), calls, signature };
}

const textOfPart = (part: Json): string => textIn(part['text']) ?? '';
const signatureOfPart = (part: Json): string | undefined => textIn(part['thoughtSignature']);

const callOf = ({ id, name, args }: Json, part: Json, written: WrittenArguments): ToolCall => ({
  id: textIn(id),
  name: textIn(name) ?? '',
  arguments: argumentsText(args, written),
  signature: signatureOfPart(part),
});

/** Google sends ids with newer models only. Made of the answer's own id, one is as unique as that, and within OpenAI's 40 characters. */
export const callId = (responseId: string, choice: number, call: number): string => `call_${responseId.slice(0, 24)}_${choice}_${call}`;

/** A call as OpenAI writes it. */
export const toolCall = ({ name, arguments: text, signature }: ToolCall, id: string) => ({
  id,
  type: 'function',
  function: { name, arguments: text },
  ...withSignature(signature),
});

function* logprobsOf(result: unknown): Steps<Json | null> {
  if (!isRecord(result)) return null;
  const alternatives = recordsIn(result['topCandidates']);
  const content: Json[] = [];
  for (const [at, chosen] of recordsIn(result['chosenCandidates']).entries()) {
    content.push({ ...logprobOf(chosen), top_logprobs: recordsIn(alternatives[at]?.['candidates']).map(logprobOf) });
    yield;
  }
  return { content, refusal: null };
}

const logprobOf = ({ token, logProbability }: Json) => ({
  token: textIn(token) ?? '',
  logprob: typeof logProbability === 'number' ? logProbability : 0,
  bytes: [...Buffer.from(textIn(token) ?? '')],
});
