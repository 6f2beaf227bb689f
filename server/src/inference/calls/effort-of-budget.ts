type Effort = 'low' | 'medium' | 'high';

/** So many tokens of thought at most are about as much as an effort. */
const EFFORTS = [
  [4_096, 'low'],
  [16_384, 'medium'],
] as const;

/** What a budget of thought, in tokens, means to a model that reasons by an effort. */
export const effortOfBudget = (tokens: number): Effort => EFFORTS.find(([most]) => tokens <= most)?.[1] ?? 'high';
