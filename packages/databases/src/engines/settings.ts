import { isJsonObject, type JsonObject } from '@tenure/kube/model'

export type SettingValue = string | number | boolean
/** Settings of an engine by their normal names, sorted by name. */
export type EngineSettings = ReadonlyMap<string, SettingValue>

/** The syntax of an engine's configuration file. */
export interface SettingsFormat {
  /** Names that the engine accepts. */
  readonly name: RegExp
  /** The one spelling of a name, so that another spelling does not bypass a check. */
  normalize(name: string): string
  /** The reason why a setting is refused; undefined if it is allowed. Gets the normal name. */
  refusal(name: string, value: SettingValue): string | undefined
  /** One line for one setting. No value can end the line or begin another directive. */
  line(name: string, value: SettingValue): string
}

/** MariaDB reads lines of at most 4096 bytes and takes the rest for another line. */
const MAX_LINE_BYTES = 4_000
const MAX_SETTING_NAME_LENGTH = 128
const MAX_SETTINGS = 500

/** Line breaks and other control characters, which no engine needs in a value, and halves of characters. */
const UNSAFE_TEXT = /[\p{Cc}\p{Cs}\u2028\u2029]/u

export type ReadSettings = { readonly settings: EngineSettings } | { readonly refused: string }

/** Reads `config.settings`. Messages contain names, never values: a value may be a secret. */
export function readSettings(value: unknown, format: SettingsFormat): ReadSettings {
  if (value === undefined || value === null) return { settings: new Map() }
  if (!isJsonObject(value)) return { refused: 'Config key "settings" must be an object of engine parameters.' }
  return readEntries(value, format)
}

function readEntries(object: JsonObject, format: SettingsFormat): ReadSettings {
  const entries = Object.entries(object).filter(([, value]) => value !== null)
  if (entries.length > MAX_SETTINGS) return { refused: `Config key "settings" has more than ${MAX_SETTINGS} entries.` }
  const settings = new Map<string, SettingValue>()
  for (const [given, value] of entries) {
    if (given.length > MAX_SETTING_NAME_LENGTH || !format.name.test(given)) {
      return { refused: `Setting ${shown(given)} is not a valid parameter name.` }
    }
    const name = format.normalize(given)
    const refused = settings.has(name) ? 'is given twice' : settingProblem(name, value, format)
    if (refused !== undefined) return { refused: `Setting "${given}" ${refused}.` }
    settings.set(name, value as SettingValue)
  }
  return { settings: new Map([...settings].toSorted(([a], [b]) => (a < b ? -1 : 1))) }
}

function settingProblem(name: string, value: unknown, format: SettingsFormat): string | undefined {
  if (typeof value === 'number' ? !Number.isFinite(value) : typeof value !== 'string' && typeof value !== 'boolean') {
    return 'must be a text, a number or a boolean'
  }
  const setting = value as SettingValue
  if (typeof setting === 'string' && UNSAFE_TEXT.test(setting)) {
    return 'contains a line break or another control character'
  }
  const reason = format.refusal(name, setting)
  if (reason !== undefined) return `is refused: ${reason}`
  if (Buffer.byteLength(format.line(name, setting)) > MAX_LINE_BYTES) return `is longer than ${MAX_LINE_BYTES} bytes`
  return undefined
}

/** A name for a message: quoted, and short. */
function shown(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}
