/** The path of a request target, without its query. */
export function pathnameOf(target: string): string {
  const end = target.indexOf('?');
  return end === -1 ? target : target.slice(0, end);
}

/** The parameters of the query of a request target. */
export const queryParamsOf = (target: string): URLSearchParams => new URLSearchParams(target.slice(pathnameOf(target).length));

/** Whether a step of a path is percent-encoded as it should be. */
export function isDecodable(step: string): boolean {
  try {
    decodeURIComponent(step);
    return true;
  } catch {
    return false;
  }
}
