import { type FieldRules, refused } from './field-rule.ts';
import { isOff } from './provider-features.ts';

const OTHER_MEDIA = 'images or videos at another size or rate than is held';
const isSmallMedia = (value: unknown): boolean => /^(?:media_resolution_)?(?:low|auto|default|unspecified)$/i.test(String(value));

/** Of Alibaba, Google and servers of models that see: what an image or a video in the prompt costs is multiplied by them. */
export const MEDIA_IN: FieldRules = {
  max_pixels: refused(OTHER_MEDIA),
  min_pixels: refused(OTHER_MEDIA),
  total_pixels: refused(OTHER_MEDIA),
  vl_high_resolution_images: refused(OTHER_MEDIA, isOff),
  media_resolution: refused(OTHER_MEDIA, isSmallMedia),
  fps: refused(OTHER_MEDIA),
  max_frames: refused(OTHER_MEDIA),
  min_frames: refused(OTHER_MEDIA),
};
