import { type FakeUpstream, startFakeUpstream } from '@tallygate/fake-upstream';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { answered, type CallOverrides, chatCall } from './conformance-calls.ts';
import { type OpenAiCompatibleOptions, openAiCompatible } from './openai-compatible.ts';
import type { UpstreamProvider } from './port.ts';

export const MAX_BYTES = 1024 * 1024;
export const KEY = 'sk-provider-secret-0123456789';
export const NOW = Date.parse('2026-11-21T08:00:00Z');

/** An adapter against the scripted provider, whose script is empty at the start of every test. Call it once in a test file. */
export function againstFakeUpstream(make: (options: OpenAiCompatibleOptions) => UpstreamProvider = openAiCompatible, model = 'fake-model') {
  let fake: FakeUpstream;
  let provider: UpstreamProvider;
  /** Another adapter at the same provider; the test closes it. */
  const provide = (options: Partial<OpenAiCompatibleOptions> = {}): UpstreamProvider =>
    make({ name: 'fake', baseUrl: fake.url, apiKey: KEY, clock: { now: () => NOW }, ...options });

  beforeAll(async () => {
    fake = await startFakeUpstream();
  });
  afterAll(() => fake.close());
  beforeEach(() => {
    fake.reset();
    provider = provide();
  });
  afterEach(() => provider.close());

  return {
    fake: (): FakeUpstream => fake,
    provider: (): UpstreamProvider => provider,
    provide,
    /** The outcome of a call. */
    chat: (overrides: CallOverrides = {}) => provider.call(chatCall(model, overrides)),
    /** The answer of a call that must be answered. */
    ask: (overrides: CallOverrides = {}) => answered(provider, chatCall(model, overrides)),
  };
}
