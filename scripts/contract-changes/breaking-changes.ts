import type { Content, Document, Operation } from './openapi.ts';
import { type Comparison, type Direction, schemaChanges } from './schema-changes.ts';

/**
 * What in a document breaks clients that were written for an earlier one: operations, fields, parameters, values and answers that are
 * gone, and what has become required or narrower. Each is one line, in the order of the earlier document.
 */
export function breakingChanges(before: Document, after: Document): string[] {
  const comparison: Comparison = { before, after, open: new Set() };
  return Object.entries(before.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => {
      const name = `${method.toUpperCase()} ${path}`;
      const other = after.paths[path]?.[method];
      return other === undefined ? [`${name}: removed`] : operationChanges(name, operation, other, comparison);
    }),
  );
}

function operationChanges(name: string, before: Operation, after: Operation, comparison: Comparison): string[] {
  const lines = [
    ...credentialChanges(before, after),
    ...parameterChanges(before, after, comparison),
    ...bodyChanges(before, after, comparison),
    ...answerChanges(before, after, comparison),
  ];
  // One change inside a named schema may be met on several ways.
  return [...new Set(lines)].map((line) => `${name}: ${line}`);
}

/** A kind of credential that was enough and is not any more. */
function credentialChanges(before: Operation, after: Operation): string[] {
  const accepted = (operation: Operation) =>
    (operation.security ?? [{}]).map((scheme) => Object.keys(scheme).sort().join(' and ') || 'none');
  const now = new Set(accepted(after));
  if (now.has('none')) return [];
  return accepted(before)
    .filter((scheme) => !now.has(scheme))
    .map((scheme) => `credential ${scheme} no longer accepted`);
}

function parameterChanges(before: Operation, after: Operation, comparison: Comparison): string[] {
  const [old, now] = [before.parameters ?? [], after.parameters ?? []];
  const removed = old.filter((parameter) => !now.some((other) => other.name === parameter.name && other.in === parameter.in));
  return [
    ...removed.map((parameter) => `${parameter.in} ${parameter.name}: removed`),
    ...now.flatMap((parameter) => {
      const where = `${parameter.in} ${parameter.name}`;
      const other = old.find(({ name, in: place }) => name === parameter.name && place === parameter.in);
      if (parameter.required && !other?.required) return [`${where}: now required`];
      if (!other?.schema || !parameter.schema) return [];
      return schemaChanges(other.schema, parameter.schema, 'sent', where, comparison);
    }),
  ];
}

function bodyChanges(before: Operation, after: Operation, comparison: Comparison): string[] {
  if (after.requestBody?.required && !before.requestBody?.required) return ['body: now required'];
  if (before.requestBody === undefined) return [];
  if (after.requestBody === undefined) return ['body: removed'];
  return contentChanges(before.requestBody.content, after.requestBody.content, 'sent', 'body', comparison);
}

/** For successes only: refusals are compared by their codes, and all have one form. */
function answerChanges(before: Operation, after: Operation, comparison: Comparison): string[] {
  const successes = Object.entries(before.responses).filter(([status]) => status.startsWith('2'));
  return successes.flatMap(([status, { content = {} }]) => {
    const other = after.responses[status];
    return other === undefined ? [`${status}: removed`] : contentChanges(content, other.content ?? {}, 'received', status, comparison);
  });
}

function contentChanges(before: Content, after: Content, direction: Direction, where: string, comparison: Comparison): string[] {
  return Object.entries(before).flatMap(([type, { schema }]) => {
    const other = after[type];
    if (other === undefined) return [`${where}: ${type} removed`];
    return schema && other.schema ? schemaChanges(schema, other.schema, direction, where, comparison) : [];
  });
}
