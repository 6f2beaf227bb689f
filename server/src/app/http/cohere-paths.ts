const SECOND_VERSION = /^\/v2(?=\/rerank\/?(?:\?|$))/;

/** Where Cohere's clients ask for rankings, in version 2 of its API: the operation is that of `/v1`. Any other target is as it was. */
export const withoutCohere = (target: string): string => (target.startsWith('/v2/') ? target.replace(SECOND_VERSION, '/v1') : target);
