import { isCount } from '../usage.ts';
import { type FieldRules, refused } from './field-rule.ts';

const BESIDE_TOP = /^(?:extra_body|parameters|extra_body\.parameters)\.thinking_budget$/;

/** Alibaba reads it at the top of the request, where the gateway writes what is held. In the fields of other providers it is within the bound. */
export const THINKING_BUDGET: FieldRules = {
  thinking_budget: {
    ...refused('a budget of thought that is no number of tokens, or not at the top of the request'),
    unpriced: (budget, param) =>
      BESIDE_TOP.test(param) || (param === 'thinking_budget' && !isCount(budget))
        ? { param, what: 'a budget of thought that is no number of tokens, or not at the top of the request' }
        : undefined,
  },
};
