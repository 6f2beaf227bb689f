import Negotiator from 'negotiator';

/** A parameter of a media type; `q` is none. What is between quotes may hold commas. */
const PARAMETER = /;\s*(?!q\s*=)[\w!#$&^.+-]+\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*)/gi;

/**
 * Which of these media types a caller takes most gladly (RFC 9110, 12.5.1); of equally welcome ones the first, undefined where none is.
 * Parameters do not count: a client that asks for JSON-LD of some `profile` gets JSON-LD.
 */
export const mostWelcome = (accept: string | undefined, types: readonly string[]): string | undefined =>
  new Negotiator({ headers: { accept: accept?.replaceAll(PARAMETER, '') } }).mediaType([...types]);
