import type { FieldError } from '@tallygate/contract';
import { Problem } from './problem.ts';

/** Reported per request. */
const MOST_ERRORS = 20;

/**
 * All errors of a request as one 422, the first twenty of them by name. The first is also a sentence in the detail, for clients that only show that.
 * @param errors at least one; a `msg` continues the field's name: `must have at least 1 character`
 */
export function invalidInput(errors: readonly FieldError[]): Problem {
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more, see errors)` : '';
  const param = first && first.loc.length > 1 ? inOpenAiNotation(first.loc.slice(1)) : undefined;
  return new Problem('validation_failed', `${first ? sentenceOf(first) : 'The request is not valid'}${more}.`, {
    errors: errors.slice(0, MOST_ERRORS),
    ...(param && { param }),
  });
}

function sentenceOf({ loc, msg }: FieldError): string {
  const subject = subjectOf(loc);
  return /^[a-z]/.test(msg) ? `${subject} ${msg}` : `${subject}: ${msg}`;
}

function subjectOf([part, ...steps]: FieldError['loc']): string {
  if (steps.length === 0) return `The ${part}`;
  const field = `\`${inOpenAiNotation(steps)}\``;
  switch (part) {
    case 'query':
      return `The query parameter ${field}`;
    case 'header':
      return `The header ${field}`;
    case 'path':
      return `${field} in the path`;
    default:
      return field;
  }
}

/** `messages[0].role` */
export const inOpenAiNotation = (steps: readonly (string | number)[]): string =>
  steps.reduce<string>((text, step) => (typeof step === 'number' ? `${text}[${step}]` : text ? `${text}.${step}` : step), '');
