import { isRecord } from '../usage.ts';
import { bytesBeside as bytesOutside } from './content-values.ts';
import { COST_FIELDS } from './cost-fields.ts';
import { type FieldRules, unpricedFeature } from './field-rule.ts';
import { requireNothingNested } from './nested-fields.ts';
import { REQUEST_SHAPES } from './request-shapes.ts';
import { requireSpelling, type Shape } from './spelling.ts';

export { unpricedFeature } from './field-rule.ts';
export { requireEventSpelling, requireRealtimeFields } from './realtime-fields.ts';

/**
 * What every request to an operation has to pass before anything is made of it: everything it asks for is in the worst case that is held.
 * @throws Error for an operation without its fields in the table
 */
export function costCheckOf(path: string): (request: unknown) => void {
  const fields = COST_FIELDS[path];
  const shape = shapeOf(path);
  if (!fields) throw new Error(`The cost of the fields of ${path} is in no table`);
  return (request) => {
    requireSpelling(request, shape);
    requireCostless(request, { path, fields, shape }, []);
  };
}

interface Place {
  readonly path: string;
  readonly fields: FieldRules;
  readonly shape: Shape;
}

/** @throws Problem `validation_failed`, `unpriced_feature` */
function requireCostless(request: unknown, { path, fields, shape }: Place, at: readonly string[]): void {
  if (!isRecord(request)) return;
  requirePriced(request, fields, at);
  requireNothingNested(request, { path, fields, names: shape.names }, at);
  for (const name in request) {
    const members = Object.hasOwn(fields, name) ? fields[name]?.members : undefined;
    const inner = members && shape.within.get(name);
    if (inner) requireCostless(request[name], { path, fields: members, shape: inner }, [...at, name]);
  }
}

/**
 * The same of a request to the operation that is counted and not run: it costs nothing, and of a misspelt field nothing would be counted.
 * @throws Error for an operation without its fields in the table
 */
export function spellingCheckOf(path: string): (request: unknown) => void {
  const shape = shapeOf(path);
  return (request) => requireSpelling(request, shape);
}

function shapeOf(path: string): Shape {
  const shape = REQUEST_SHAPES.get(path);
  if (!shape) throw new Error(`The fields of ${path} are in no table`);
  return shape;
}

/** The bytes of the texts in the fields of a request that are in no table. */
export const bytesBeside = (path: string, request: Readonly<Record<string, unknown>>): number =>
  bytesOutside(request, COST_FIELDS[path] ?? {});

/** @throws Problem `unpriced_feature` */
function requirePriced(request: Readonly<Record<string, unknown>>, fields: FieldRules, at: readonly string[]): void {
  for (const name in request) {
    const value = request[name];
    if (value === undefined || value === null || !Object.hasOwn(fields, name)) continue;
    const found = fields[name]?.unpriced?.(value, [...at, name].join('.'));
    if (found) throw unpricedFeature(found);
  }
}
