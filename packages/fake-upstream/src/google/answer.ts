import { type Piece, piecesOf } from '../completion.ts';
import type { Question } from '../dialect.ts';
import { type Fields, isFields } from '../fields.ts';
import { inflated } from '../inflated.ts';
import { sample } from '../sample.ts';
import type { Saying, ScriptedToolCall } from '../step.ts';
import type { GoogleSaying, GoogleUsage } from './saying.ts';

/** What one candidate says, part by part; in a stream every part is one event. */
export interface GeneratedAnswer {
  readonly responseId: string;
  readonly model: string;
  readonly parts: readonly Fields[];
  readonly candidates: number;
  readonly finishReason: string;
  readonly saying: GoogleSaying;
  readonly usage: unknown;
  readonly exact: GoogleUsage;
}

export function generatedAnswer({ turn, request, step, promptTokens, path }: Question): GeneratedAnswer {
  const config = isFields(request['generationConfig']) ? request['generationConfig'] : {};
  const saying = step.google ?? {};
  const all = piecesOf({ ...askedFor(request, config), ...step });
  const bound = step.exceedsBound ? Infinity : Number(config['maxOutputTokens'] ?? Infinity);
  const pieces = all.slice(0, bound);
  const candidates = Number(config['candidateCount'] ?? 1);
  const exact = inflated(usageOf(pieces, candidates, promptTokens), step);
  return {
    responseId: `fakeResponse${turn}`,
    model: /models\/([^:]+):/.exec(path)?.[1] ?? 'fake-model',
    parts: signed(partsOf(pieces, pieces.length < all.length, saying), saying),
    candidates,
    finishReason: saying.finishReason ?? (pieces.length < all.length ? 'MAX_TOKENS' : 'STOP'),
    saying,
    usage: saying.usage ? saying.usage(exact) : exact,
    exact,
  };
}

/** What a well-behaved model would do with the request. */
function askedFor(request: Fields, config: Fields): Saying {
  const tool = demandedTool(request);
  if (tool) return { text: '', toolCalls: [tool] };
  if (config['responseMimeType'] !== 'application/json') return {};
  const schema = config['responseJsonSchema'];
  return { text: schema === undefined ? '{"ok": true}' : JSON.stringify(sample(schema)) };
}

export const declarationsIn = ({ tools }: Fields): Fields[] =>
  (Array.isArray(tools) ? tools.filter(isFields) : []).flatMap(({ functionDeclarations: list }) =>
    Array.isArray(list) ? list.filter(isFields) : [],
  );

export function callingConfigIn({ toolConfig }: Fields): Fields {
  const config = isFields(toolConfig) ? toolConfig['functionCallingConfig'] : undefined;
  return isFields(config) ? config : {};
}

function demandedTool(request: Fields): ScriptedToolCall | undefined {
  const { mode, allowedFunctionNames: allowed } = callingConfigIn(request);
  if (mode !== 'ANY') return undefined;
  const tool = declarationsIn(request).find(({ name }) => !Array.isArray(allowed) || allowed.includes(name));
  return tool && { name: String(tool['name']), arguments: JSON.stringify(sample(tool['parametersJsonSchema']) ?? {}) };
}

/** Calls come whole; one that the bound cuts is not made. */
function partsOf(pieces: readonly Piece[], isCut: boolean, { callIds = false }: GoogleSaying): Fields[] {
  const lastCall = Math.max(-1, ...pieces.map((piece) => (piece.kind === 'call' ? piece.index : -1)));
  return pieces.flatMap((piece): Fields[] => {
    switch (piece.kind) {
      case 'text':
        return [{ text: piece.text }];
      case 'reasoning':
        return [{ text: piece.text, thought: true }];
      case 'arguments':
        return [];
      case 'call': {
        const { index, name } = piece;
        if (isCut && index === lastCall) return [];
        const text = pieces.map((one) => (one.kind === 'arguments' && one.index === index ? one.text : '')).join('');
        return [{ functionCall: { ...(callIds && { id: `google-call-${index}` }), name, args: JSON.parse(text) } }];
      }
      default:
        return [piece satisfies never];
    }
  });
}

function signed(parts: readonly Fields[], { thoughtSignature }: GoogleSaying): Fields[] {
  const firstCall = parts.findIndex((part) => 'functionCall' in part);
  const at = firstCall < 0 ? parts.length - 1 : firstCall;
  return parts.map((part, index) => (index === at && thoughtSignature !== undefined ? { ...part, thoughtSignature } : part));
}

/** Google leaves a count of zero out. */
function usageOf(pieces: readonly Piece[], candidates: number, promptTokens: number): GoogleUsage {
  const thoughts = pieces.filter(({ kind }) => kind === 'reasoning').length * candidates;
  const said = pieces.length * candidates - thoughts;
  return {
    promptTokenCount: promptTokens,
    candidatesTokenCount: said,
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
    totalTokenCount: promptTokens + said + thoughts,
  };
}
