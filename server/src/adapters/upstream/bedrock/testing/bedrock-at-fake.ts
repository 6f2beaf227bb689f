import { KEY } from '../../against-fake-upstream.ts';
import type { BedrockOptions } from '../api.ts';
import { bedrock } from '../bedrock.ts';

export const REGION = 'eu-central-1';

/** The adapter at a scripted provider, whose address is given as OpenAI's libraries take it. */
export const bedrockAt = (options: Omit<BedrockOptions, 'region'>) =>
  bedrock({ apiKey: KEY, ...options, baseUrl: new URL(options.baseUrl).origin, region: REGION });
