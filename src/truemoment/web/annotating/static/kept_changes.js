// Changes in IndexedDB, which keeps them when a tab, the browser or the machine ends.

export class KeptChanges {
  constructor() {
    /** @type {Promise<IDBDatabase>} */
    this.database = open();
    this.database.catch(() => {}); // without IndexedDB each use fails
  }

  /** @returns {Promise<any[]>} all changes of this browser */
  all() {
    return this.transact("readonly", (store) => store.getAll());
  }

  /** @param {any} change @returns {Promise<number>} its id */
  put(change) {
    return this.transact("readwrite", (store) => store.put(change));
  }

  /** @param {number} id */
  remove(id) {
    return this.transact("readwrite", (store) => store.delete(id));
  }

  /**
   * @param {IDBTransactionMode} mode
   * @param {(store: IDBObjectStore) => IDBRequest} use
   * @returns {Promise<any>} the result, once it is on the disk
   */
  async transact(mode, use) {
    const database = await this.database;
    return new Promise((resolve, reject) => {
      const transaction = database.transaction("changes", mode, { durability: "strict" });
      const request = use(transaction.objectStore("changes"));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onerror = () => reject(transaction.error);
      transaction.onabort = () => reject(transaction.error);
    });
  }
}

/** @returns {Promise<IDBDatabase>} */
function open() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open("truemoment-annotate", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("changes", { keyPath: "id", autoIncrement: true });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
