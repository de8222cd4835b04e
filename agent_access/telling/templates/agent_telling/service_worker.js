// Shows the notifications of agent_access.telling and opens their pages; it fetches and keeps nothing.
self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("push", (event) => {
  const { title, body, tag, path } = event.data.json();
  event.waitUntil(self.registration.showNotification(title, { body, tag, renotify: true, data: path }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data));
});

// A tab that shows the page comes to the front; no other is led away from what it shows.
const open = async (path) => {
  const page = new URL(path, self.location.origin);
  if (page.origin !== self.location.origin) return;
  const tabs = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const shown = tabs.find((tab) => new URL(tab.url).pathname === page.pathname);
  await (shown ? shown.focus() : self.clients.openWindow(page.href));
};
