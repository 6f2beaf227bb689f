import { CompactRequest, contract, type ResponseItem, type ResponseRequest } from '@tallygate/contract';
import { writtenJson } from '../../../kernel/written-json.ts';
import type { AnswerForm, PlainAnswer } from '../answer-form.ts';
import { type Operation, operation } from '../operation.ts';
import { inlineAudioTokens } from '../recordings/inline-audio.ts';
import { isRecord } from '../usage.ts';
import { compactionItem, SUMMARISE, SUMMARISE_NOW } from './compaction.ts';
import { newResponseId } from './ids.ts';
import { wholeItem } from './items.ts';
import { audioOf } from './media.ts';
import { itemsOf, type ResponseDeps } from './prepared-response.ts';
import { textOfOutput, withUsage } from './response-form.ts';
import { sentBytes } from './response-input.ts';
import { responseWork } from './response-work.ts';
import { outputOf } from './stored-responses.ts';
import { ownerOf } from './wire.ts';

/**
 * `POST /v1/responses/compact`: the model is asked for a summary like for any response. What the caller gets is what they have said
 * themselves, word for word, and the summary in the place of everything else. Nothing is kept.
 */
export const compactOperation = (deps: ResponseDeps): Operation =>
  operation(contract.inference.compactResponse, {
    endpoint: '/v1/responses',
    schema: CompactRequest,
    async work(request, received, caller) {
      const { all } = await itemsOf(request, ownerOf(caller), deps);
      const audioTokens = await inlineAudioTokens(audioOf(all), deps.recordings);
      const id = newResponseId();
      const { model, models, prompt_cache_key } = request;
      const asked: ResponseRequest = { model, models, prompt_cache_key, store: false, instructions: instructionsOf(request) };
      const items = all.length === 0 ? [] : [...all, message(SUMMARISE_NOW)];
      const summarised = { ...asked, instructions: all.length === 0 ? null : asked.instructions };
      const bytes = await sentBytes(summarised, items);
      return {
        ...responseWork(summarised, {
          items,
          bytes,
          audioTokens,
          frame: { id },
          requestSha256: received.sha256,
          asksEncrypted: false,
          hidesEncrypted: true,
          read: (form) => compactedForm(form, id, all),
        }),
        cheaper: 'shorten `input`',
      };
    },
  });

const instructionsOf = ({ instructions }: CompactRequest): string =>
  instructions ? `${SUMMARISE}\n\nThe conversation is held under these instructions, which stay in force:\n${instructions}` : SUMMARISE;

const message = (text: string): ResponseItem => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });

/** An answer that says nothing compacts nothing: it is none, and the next provider may try. */
const compactedForm = (form: AnswerForm, id: string, all: readonly ResponseItem[]): AnswerForm => ({
  ...form,
  async read(bytes, contentType): Promise<PlainAnswer | undefined> {
    const answer = await form.read(bytes, contentType);
    if (!answer || !isRecord(answer.value)) return undefined;
    const { value } = answer;
    const summary = textOfOutput(outputOf(value).filter(({ type }) => type === 'message'));
    if (summary === '') return undefined;
    const said = all.filter((item) => (item.type ?? 'message') === 'message' && item.role === 'user');
    return {
      ...answer,
      value: undefined,
      toBytes(cost) {
        const { usage } = withUsage({ usage: value['usage'] }, cost);
        const created_at = value['created_at'];
        const output = [...said.map(wholeItem), compactionItem(`cmp_${id.slice('resp_'.length)}`, summary)];
        return writtenJson({ id, object: 'response.compaction', created_at, output, usage });
      },
    };
  },
});
