/** The service: one class that calls it, and what goes wrong in words. */

/**
 * @typedef {{role: "user" | "assistant", content: string}} Message
 * @typedef {{op: "substitute" | "insert", start: number, end: number, text: string, source_turn: number | null,
 *   source_start: number, source_end: number, before: string, after: string, score: number}} Edit
 * @typedef {{start: number, end: number, origin: "utterance" | "history" | "connection" | "separator"}} Piece
 * @typedef {{op: "substitute" | "insert", top: number, bottom: number, left: number, right: number, score: number,
 *   made: boolean}} Region
 * @typedef {{rows: string[], columns: string[], row_turns: (number | null)[], substitute: number[][],
 *   insert: number[][], regions: Region[]}} Grid
 * @typedef {{text: string, utterance: string, changed: boolean, reason: string, confidence: number | null,
 *   edits: Edit[], pieces: Piece[], turns_used: number | null, notes: string[], model: string | null,
 *   grid: Grid | null, timing: {total_ms: number, waited_ms: number, computed_ms: number}}} Answer
 * @typedef {{id: string, languages: string[], thresholds: {cell: number, region: number, lone: number, further: number, joining: number}}} Model
 * @typedef {{answer: Answer, roundTrip: number}} Answered
 */

/** An answer that is not what was asked for, or none at all (status 0). */
export class Problem extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {string | null} [field]
   * @param {string | null} [retryAfter]
   */
  constructor(status, message, field = null, retryAfter = null) {
    super(message);
    this.status = status;
    this.field = field;
    this.retryAfter = retryAfter;
  }

  /** What to tell people. */
  get words() {
    const said = this.message.charAt(0).toUpperCase() + this.message.slice(1).replace(/\.$/, "");
    if (this.status === 0) {
      return "The server does not answer. What you wrote is still here; try again when it is back.";
    }
    if (this.status === 503) {
      const seconds = Number(this.retryAfter);
      return `The server is busy: ${this.message}. ${seconds ? `Try again in ${seconds} s.` : "Try again soon."}`;
    }
    return this.status >= 500 ? `The server failed: ${this.message}.` : `${said}.`;
  }
}

/** Calls the service this page comes from; the key is kept here and nowhere else. */
export class Service {
  key = "";

  /**
   * @param {Record<string, unknown>} body
   * @param {AbortSignal} [signal]
   * @returns {Promise<Answered>}
   */
  async rewrite(body, signal) {
    const begun = performance.now();
    const answer = /** @type {Answer} */ (await this.#call("v1/rewrite", body, signal));
    return { answer, roundTrip: performance.now() - begun };
  }

  /** @returns {Promise<Model[]>} */
  async models() {
    return /** @type {{data: Model[]}} */ (await this.#call("v1/models")).data;
  }

  /** Where a path of the service is, also behind a proxy that gives it a folder. */
  address(place) {
    return new URL(place, document.baseURI.replace(/[?#].*$/s, "")).href;
  }

  async #call(place, body, signal) {
    const headers = this.key ? { authorization: `Bearer ${this.key}` } : {};
    if (body) {
      headers["content-type"] = "application/json";
    }
    let response;
    try {
      const method = body ? "POST" : "GET";
      response = await fetch(this.address(place), { method, headers, body: body && JSON.stringify(body), signal });
    } catch (error) {
      throw signal?.aborted ? error : new Problem(0, String(error));
    }
    const document = await response.json().catch(() => null);
    if (response.ok && document) {
      return document;
    }
    const problem = document?.error ?? {};
    const message = problem.message ?? `it answered with status ${response.status}`;
    throw new Problem(response.status, message, problem.param, response.headers.get("retry-after"));
  }
}
