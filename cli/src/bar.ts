const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** `██████░░░░`: the used part of the whole. A full bar means that nothing is left, and only then; anything used is seen. */
export function gauge(share: number, width: number): string {
  const full = Math.min(share < 1 ? width - 1 : width, Math.ceil(share * width));
  return `${'█'.repeat(full)}${'░'.repeat(width - full)}`;
}

/** `████▋`: how much of the largest, to an eighth of a column. */
export function column(value: number, largest: number, width: number): string {
  const eighths = largest === 0 ? 0 : Math.max(value > 0 ? 1 : 0, Math.round((value / largest) * width * 8));
  return `${'█'.repeat(Math.floor(eighths / 8))}${EIGHTHS[eighths % 8]}`;
}
