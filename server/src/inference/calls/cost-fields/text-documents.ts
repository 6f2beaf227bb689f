import { isRecord } from '../usage.ts';
import type { Unpriced } from './field-rule.ts';

const DOCUMENT_MEMBERS: ReadonlySet<string> = new Set(['id', 'doc_id', 'title', 'text', 'snippet', 'content', 'contents', 'data']);
const ADDRESS = /^\s*(?:[a-z][a-z0-9+.-]*:\/\/|data:[^\s,]*,)\S*\s*$/i;
const isText = (value: unknown): boolean => typeof value === 'string' && !ADDRESS.test(value);

/** Cohere's and vLLM's documents are text of the request: what is anything else, or somewhere else, the provider would fetch. */
export function unpricedDocument(documents: unknown, param: string): Unpriced | undefined {
  if (!Array.isArray(documents)) return { param, what: 'documents that are no text' };
  const other = documents.findIndex((document) => !isTextDocument(document));
  return other === -1 ? undefined : { param: `${param}[${other}]`, what: 'documents that are no text' };
}

const isTextDocument = (document: unknown): boolean =>
  isText(document) ||
  (isRecord(document) &&
    Object.entries(document).every(
      ([name, value]) => value === null || (DOCUMENT_MEMBERS.has(name) && (name === 'data' ? isTextDocument(value) : isText(value))),
    ));
