// Requests to the page's own server: JSON in and out. Paths are those of the page, which may be shown within another.

import { ROOT } from "./page.js";

/** An answer that is no success. */
export class RequestError extends Error {
  /**
   * @param {number} status HTTP status; 0 if the server was not reached
   * @param {string} message one line for people
   * @param {any} body what the server answered
   */
  constructor(status, message, body = null) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

/**
 * Send a request with a JSON body.
 * @param {string} method
 * @param {string} path
 * @param {any} body
 * @param {RequestInit} options
 * @returns {Promise<any>} the JSON of the answer; null if it is empty
 */
export async function send(method, path, body = {}, options = {}) {
  const headers = { "Content-Type": "application/json" };
  return answerOf(() => fetch(ROOT + path, { method, headers, body: JSON.stringify(body), ...options }));
}

/**
 * Get JSON.
 * @param {string} path
 * @param {RequestInit} options
 * @returns {Promise<any>} the JSON of the answer; null if it is empty (204, 304)
 */
export async function get(path, options = {}) {
  return answerOf(() => fetch(ROOT + path, options));
}

/** @param {() => Promise<Response>} request */
async function answerOf(request) {
  let response;
  try {
    response = await request();
  } catch {
    throw new RequestError(0, "The server cannot be reached.");
  }
  const isJson = (response.headers.get("Content-Type") || "").startsWith("application/json");
  const body = isJson ? await response.json().catch(() => null) : null;
  if (response.ok || response.status === 304) return body;
  throw new RequestError(response.status, body?.error || `The server answered ${response.status}.`, body);
}
