import type { RerankRequest } from '@tallygate/contract';
import { invalidInput } from '../../kernel/invalid-input.ts';
import { isRecord } from './usage.ts';

type Wanted = Pick<RerankRequest, 'documents' | 'rank_fields'>;

/**
 * The texts that documents are ranked by: strings as they are, of objects their `text`, or the fields that `rank_fields` names.
 * @throws Problem `validation_failed` where one has none of these
 */
export function rankedTexts({ documents, rank_fields: fields }: Wanted): string[] {
  return documents.map((document, at) => {
    if (typeof document === 'string') return document;
    const texts = (fields ?? ['text']).flatMap((field) => textsIn(document, field));
    if (texts.length > 0) return texts.join('\n');
    const msg = fields ? 'has none of the fields of `rank_fields` as a text' : 'must be a string or an object with a `text`';
    throw invalidInput([{ loc: ['body', 'documents', at], msg, type: 'invalid' }]);
  });
}

const textsIn = (document: Readonly<Record<string, unknown>>, field: string): string[] => {
  const value = Object.hasOwn(document, field) ? document[field] : undefined;
  return typeof value === 'string' ? [value] : [];
};

/** A document as it is shown beside its place: an object as it was sent, a string as its `text`. */
export const shownDocument = (document: RerankRequest['documents'][number] | undefined): object =>
  isRecord(document) ? document : { text: document };

/** A document with its query is searched in parts of so many tokens, each of which counts as a document (cohere.com/pricing, October 2026). */
const PART_TOKENS = 500;
/** The query takes half of a part at most: of a longer one the rest is cut off. */
const LEAST_OF_DOCUMENT = PART_TOKENS / 2;
const DOCUMENTS_PER_SEARCH = 100;

interface Searched {
  readonly queryTokens: number;
  readonly documentTokens: readonly number[];
  /** To which each document is cut. */
  readonly mostPerDocument: number | null | undefined;
}

/** The search units of a query: one for each hundred documents, a long document counting as its parts. */
export function searchUnits({ queryTokens, documentTokens, mostPerDocument }: Searched): number {
  const part = Math.max(LEAST_OF_DOCUMENT, PART_TOKENS - queryTokens);
  const most = mostPerDocument ?? Number.POSITIVE_INFINITY;
  const parts = documentTokens.reduce((sum, tokens) => sum + Math.max(1, Math.ceil(Math.min(tokens, most) / part)), 0);
  return Math.ceil(parts / DOCUMENTS_PER_SEARCH);
}
