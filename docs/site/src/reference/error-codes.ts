import { ERRORS } from '../../../../contract/src/errors.ts';

/** Every code that has a page. */
export const ERROR_CODES: ReadonlySet<string> = new Set(Object.keys(ERRORS));
