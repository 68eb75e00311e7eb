export const FORM_TYPE = 'application/x-www-form-urlencoded';
export const HTML_TYPE = 'text/html';
export const JSON_TYPE = 'application/json';
