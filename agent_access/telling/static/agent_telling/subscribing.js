// Adds this browser to those in which the person is told: asks for permission, subscribes, and sends
// the subscription as the form does.
const place = document.querySelector("[data-push-key]");
const form = place.querySelector("form");
const button = form.querySelector("button");

const tell = (problem) => {
  place.querySelectorAll("[data-problem]").forEach((each) => { each.hidden = each.dataset.problem !== problem; });
};

const subscribe = async () => {
  const { pushManager } = await navigator.serviceWorker.register(place.dataset.worker)
    .then(() => navigator.serviceWorker.ready);
  const options = { userVisibleOnly: true, applicationServerKey: place.dataset.pushKey };
  try {
    return await pushManager.subscribe(options);
  } catch (error) {
    if (error.name !== "InvalidStateError") throw error;
    // Subscribed under another key, which the service had before.
    await (await pushManager.getSubscription()).unsubscribe();
    return pushManager.subscribe(options);
  }
};

const add = async () => {
  if ((await Notification.requestPermission()) !== "granted") return tell("denied");
  form.elements.subscription.value = JSON.stringify(await subscribe());
  form.submit();
};

form.addEventListener("submit", (event) => {
  event.preventDefault();
  tell("");
  button.disabled = true;
  add().catch(() => tell("failed")).finally(() => { button.disabled = false; });
});

if ("serviceWorker" in navigator && "PushManager" in window && "Notification" in window) button.disabled = false;
else tell("unable");
