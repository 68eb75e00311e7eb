'use strict';
const { problem } = require('./node-version.js');

if (problem) throw new Error(problem);
module.exports = require('../dist/library.cjs');
