// Runs before the page: keeps whatever goes wrong.
window.WRONG = [];
for (const level of ["error", "warn"]) console[level] = (...words) => WRONG.push(level + ": " + words.join(" "));
window.addEventListener("error", (e) => WRONG.push("error: " + e.message));
window.addEventListener("unhandledrejection", (e) => WRONG.push("rejection: " + e.reason));
document.addEventListener("securitypolicyviolation", (e) => WRONG.push("policy: " + e.violatedDirective + " " + e.blockedURI));
