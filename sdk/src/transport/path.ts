/**
 * An id as one step of a path. Every path with an id in it is built with this.
 *
 * Encoding alone does not keep an id in its place: an empty one turns `GET /v1/files/{id}` into the list, and URL parsers take `.` and `..`
 * as a way up (WHATWG URL, 4.4), so that a `DELETE` would go to something else. `undefined` comes from programs that no compiler checks.
 *
 * @throws TypeError before anything is sent
 */
export function pathStep(id: string): string {
  if (typeof id !== 'string') throw new TypeError(`An id must be a text, not ${id === null ? 'null' : typeof id}.`);
  if (id === '' || id === '.' || id === '..') throw new TypeError(`"${id}" is no id.`);
  return encodeURIComponent(id);
}
