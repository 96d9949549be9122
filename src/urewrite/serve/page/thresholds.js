/**
 * Answers for every threshold with few requests.
 *
 * A region becomes an edit if its score is at least the threshold, and the threshold does nothing else. So all
 * thresholds between two scores have the same answer, and none of them is asked for twice. The model's own thresholds
 * (null) may be two, so their answer is one for itself.
 */

/** @typedef {import("./api.js").Answered} Answered */

export class Answers {
  /** @type {Map<string, Promise<Answered>>} */
  #known = new Map();
  /** @type {number[]} */
  #scores = [];
  #ask;

  /**
   * @param {(threshold: number | null) => Promise<Answered>} ask
   * @param {Answered} first
   * @param {number | null} threshold what the first one was asked with
   */
  constructor(ask, first, threshold) {
    this.#ask = ask;
    this.#scores = first.answer.grid?.regions.map((region) => region.score) ?? [];
    this.#known.set(this.#key(threshold), Promise.resolve(first));
  }

  /**
   * @param {number | null} threshold
   * @returns {Promise<Answered>}
   */
  at(threshold) {
    const key = this.#key(threshold);
    let answer = this.#known.get(key);
    if (!answer) {
      answer = this.#ask(threshold);
      this.#known.set(key, answer);
      answer.catch(() => this.#known.delete(key));
    }
    return answer;
  }

  #key(threshold) {
    return threshold === null ? "own" : String(this.#scores.filter((score) => score >= threshold).length);
  }
}
