import { Problem } from '../../kernel/problem.ts';
import type { Catalog } from '../../money/catalog/index.ts';
import { type Call, limitsOf } from './call.ts';
import type { Caller } from './call-context.ts';

/** @throws Problem `endpoint_not_allowed` */
export function requireEndpoint(grant: Caller, endpoint: string): void {
  const endpoints = limitsOf(grant)?.endpoints;
  if (endpoints && !endpoints.has(endpoint))
    throw new Problem('endpoint_not_allowed', `This API key may use ${listed(endpoints)} only, and not ${endpoint}.`);
}

/** Whether the caller may be answered by a model. */
export const allowsModel = (grant: Caller, model: string): boolean => limitsOf(grant)?.models?.has(model) ?? true;

/**
 * The model and every fallback that the request names: a fallback that is left out in silence would be missed on the day it is needed.
 * @throws Problem `model_not_allowed`
 */
export function requireModels({ grant, work }: Call, catalog: Catalog): void {
  const models = limitsOf(grant)?.models;
  if (!models) return;
  const refuse = (model: string, param: string) => {
    // A name that the key may use as it is, or another name of a model that it may use.
    if (models.has(model) || models.has(catalog.find(model)?.id ?? model)) return;
    const detail = `This API key may use ${listed(models)} only, and not ${model.slice(0, 100)}.`;
    throw new Problem('model_not_allowed', detail, { param });
  };
  refuse(work.model, 'model');
  for (const [index, fallback] of work.fallbackModels.entries()) refuse(fallback, `models[${index}]`);
}

const LISTED = 10;

function listed(names: ReadonlySet<string>): string {
  const shown = [...names].slice(0, LISTED).join(', ');
  return names.size > LISTED ? `${shown} and ${names.size - LISTED} more` : shown;
}
