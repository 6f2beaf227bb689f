import type { Samples } from './sample.ts';

export const KEYS: Samples = {
  createKey: {
    sdk: `const { key, key_id } = await tallygate.keys.create({ name: 'production', scopes: ['inference'], monthly_cap_usd: '25' });`,
    cli: 'tallygate keys create --name production --cap 25',
  },
};
