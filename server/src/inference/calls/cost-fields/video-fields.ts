import { counted, type FieldRules, free } from './field-rule.ts';
import { ONE_VIDEO, OTHER_PROVIDERS } from './other-names.ts';

/** Of a new video. */
export const VIDEO_FIELDS: FieldRules = {
  ...OTHER_PROVIDERS,
  prompt: { kept: 'free', how: 'videos are billed by their seconds' },
  seconds: counted('the seconds that are held are sent'),
  size: counted('the size that is held is sent'),
  ...free('videos are billed by their seconds', 'input_reference', 'characters'),
  ...ONE_VIDEO,
  ...free('read by the gateway, not sent', 'madeOf', 'remixed_from_video_id', 'model'),
};

/** Of a video that is made of another one, the gateway writes the request anew: nothing else is sent. */
export const REMIX: FieldRules = free('videos are billed by their seconds, those of the video it is made of', 'prompt');
export const VIDEO_EDITS: FieldRules = { ...REMIX, video: counted('its seconds') };
export const EXTENSIONS: FieldRules = { ...VIDEO_EDITS, seconds: counted('the seconds that are held are sent') };
export const CHARACTERS: FieldRules = free('characters cost nothing', 'name', 'video', 'model');
