export { type ContentKeys, createContentKeys, deleteContentKey, SEALED_CONTENT_KEYS } from './content-keys.ts';
export { MOST_KEPT_BYTES, requireKeepable } from './keepable.ts';
export { createStoring, type Storing } from './storing.ts';
