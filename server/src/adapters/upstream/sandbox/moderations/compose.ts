import type { ModerationRequest } from '@tallygate/contract';
import { breather } from '../../../../kernel/turn.ts';
import { checkAttachments } from '../chat/attachments.ts';
import { type Composer, jsonBody } from '../composition.ts';
import type { Rejection } from '../rejection.ts';
import { type Judgement, judge } from './judgement.ts';

/** A judgement for each text, or one for all parts together. */
export const composeModeration: Composer<'/v1/moderations'> = async ({ model, request }, { idSeed }) => {
  const judged = await judgementsOf(request.input);
  return 'ok' in judged ? judged : jsonBody({ id: `modr-${idSeed.slice(0, 32)}`, model, results: judged });
};

async function judgementsOf(input: ModerationRequest['input']): Promise<Judgement[] | Rejection> {
  if (typeof input === 'string') return [judge([input], [])];
  const texts = input.filter((one) => typeof one === 'string');
  if (texts.length > 0) return judgedOneByOne(texts);
  const parts = input.filter((one) => typeof one !== 'string');
  const broken = checkAttachments([{ role: 'user', content: parts }]);
  if (broken) return { ...broken, param: broken.param?.replace('messages[0].content', 'input') ?? null };
  const images = parts.flatMap((part) => (part.type === 'image_url' ? [part.image_url.url] : []));
  return [
    judge(
      parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
      images,
    ),
  ];
}

/** A request may have thousands. */
async function judgedOneByOne(texts: readonly string[]): Promise<Judgement[]> {
  const rest = breather();
  const judged: Judgement[] = [];
  for (const text of texts) {
    judged.push(judge([text], []));
    await rest();
  }
  return judged;
}
