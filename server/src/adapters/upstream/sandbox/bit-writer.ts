/** Bits into bytes; the room grows as it is filled. */
export class BitWriter {
  #bytes = Buffer.alloc(4096);
  #length = 0;
  #held = 0;
  #heldBits = 0;

  /** The lowest bit of `value` first, as WebP has it. @param bits at most 24 */
  lowestFirst(value: number, bits: number): void {
    this.#held |= value << this.#heldBits;
    this.#heldBits += bits;
    while (this.#heldBits >= 8) {
      this.byte(this.#held & 0xff);
      this.#held >>>= 8;
      this.#heldBits -= 8;
    }
  }

  /** The highest bit of `value` first, as JPEG and video have it. @param bits at most 24 */
  highestFirst(value: number, bits: number): void {
    this.#held = (this.#held << bits) | (value & ((1 << bits) - 1));
    this.#heldBits += bits;
    while (this.#heldBits >= 8) {
      this.#heldBits -= 8;
      this.byte((this.#held >>> this.#heldBits) & 0xff);
    }
    this.#held &= (1 << this.#heldBits) - 1;
  }

  /** Only where no bits are held. */
  byte(value: number): void {
    if (this.#length === this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#length)]);
    this.#bytes[this.#length] = value;
    this.#length += 1;
  }

  /** Bits that do not fill a byte yet. */
  get heldBits(): number {
    return this.#heldBits;
  }

  bytes(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#length));
  }
}
