import { counted, type FieldRules, free } from './field-rule.ts';
import { OTHER_PROVIDERS } from './other-names.ts';

const GATEWAY = 'read by the gateway, not sent';

/** Operations on lists of texts: nothing comes out that is billed. */
export const EMBEDDINGS: FieldRules = {
  ...OTHER_PROVIDERS,
  input: counted('every text of the list, by its bytes or tokens'),
  ...free('tokens in are all that is billed', 'dimensions', 'encoding_format'),
  ...free(GATEWAY, 'model', 'models', 'provider'),
};

export const RERANK: FieldRules = {
  ...OTHER_PROVIDERS,
  query: counted('with every document, by its bytes'),
  documents: counted('every text of the list, by its bytes; of a search, by the parts that it is cut to'),
  max_tokens_per_doc: counted('the parts of a document that a search has'),
  ...free('fewer parts of a document than are held', 'max_chunks_per_doc'),
  ...free('adds to what is shown, not to what is billed', 'top_n'),
  ...free(GATEWAY, 'rank_fields', 'return_documents', 'model', 'models', 'provider'),
};
