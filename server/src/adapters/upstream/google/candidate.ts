import { argumentsText, countIn, isRecord, type Json, NONE_WRITTEN, recordsIn, textIn, type WrittenArguments } from '../json-value.ts';
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
export const argumentsIn = (response: Json): unknown[] =>
  recordsIn(response['candidates'])
    .flatMap(partsIn)
    .map(({ functionCall }) => (isRecord(functionCall) ? functionCall['args'] : undefined));

export function candidatePieces(response: Json, written = NONE_WRITTEN): CandidatePiece[] {
  return recordsIn(response['candidates']).map((candidate, at) => {
    const parts = partsIn(candidate);
    const texts = parts.filter(({ functionCall, thought }) => functionCall === undefined && thought !== true);
    return {
      index: countIn(candidate['index']) ?? at,
      text: texts.map(textOfPart).join(''),
      thoughts: parts
        .filter(({ thought }) => thought === true)
        .map(textOfPart)
        .join(''),
      calls: parts.flatMap((part) => callIn(part, written)),
      signature: texts.map(signatureOfPart).findLast((signature) => signature !== undefined),
      logprobs: logprobsOf(candidate['logprobsResult']),
      finishReason: textIn(candidate['finishReason']),
      finishMessage: textIn(candidate['finishMessage']),
    };
  });
}

const textOfPart = (part: Json): string => textIn(part['text']) ?? '';
const signatureOfPart = (part: Json): string | undefined => textIn(part['thoughtSignature']);

function callIn(part: Json, written: WrittenArguments): ToolCall[] {
  const { functionCall } = part;
  if (!isRecord(functionCall)) return [];
  const { id, name, args } = functionCall;
  return [{ id: textIn(id), name: textIn(name) ?? '', arguments: argumentsText(args, written), signature: signatureOfPart(part) }];
}

/** Google sends ids with newer models only. Made of the answer's own id, one is as unique as that, and within OpenAI's 40 characters. */
export const callId = (responseId: string, choice: number, call: number): string => `call_${responseId.slice(0, 24)}_${choice}_${call}`;

/** A call as OpenAI writes it. */
export const toolCall = ({ name, arguments: text, signature }: ToolCall, id: string) => ({
  id,
  type: 'function',
  function: { name, arguments: text },
  ...withSignature(signature),
});

function logprobsOf(result: unknown): Json | null {
  if (!isRecord(result)) return null;
  const alternatives = recordsIn(result['topCandidates']);
  const content = recordsIn(result['chosenCandidates']).map((chosen, at) => ({
    ...logprobOf(chosen),
    top_logprobs: recordsIn(alternatives[at]?.['candidates']).map(logprobOf),
  }));
  return { content, refusal: null };
}

const logprobOf = ({ token, logProbability }: Json) => ({
  token: textIn(token) ?? '',
  logprob: typeof logProbability === 'number' ? logProbability : 0,
  bytes: [...Buffer.from(textIn(token) ?? '')],
});
